// Figures 3 and 4: mean squared error against cost.
#pragma once

#include "report/figure.hpp"
#include "report/reproduce_study.hpp"

namespace mckean {

struct FinishedStudy {
  StudySettings settings;
  std::vector<std::string> parameters;
  StudyResult result;
};

// A panel for each parameter of each study. The seed is that of the bootstrap.
Figure error_figure(const std::string& name, const std::vector<FinishedStudy>&, std::uint64_t seed);
}  // namespace mckean
