// Standard errors and 95 % intervals from the exact likelihood.
#pragma once

#include "infer/exact_maximum.hpp"
#include "infer/fit.hpp"

namespace mckean {

struct ExactTop {
  const ExactMaximum& best;
  const std::vector<std::size_t>& held;  // parameters at their bounds
  ExactSteps steps;                      // by which it is one
};

// From the information where the likelihood is close to a parabola as far as the interval goes; elsewhere from the fall
// of the profile likelihood. An end that the profile does not have, or has only because Euler's steps become unstable
// there, is left out, with a warning.
void exact_intervals(Workbench&, ExactTasks&, const ExactTop&, FitResult&);
}  // namespace mckean
