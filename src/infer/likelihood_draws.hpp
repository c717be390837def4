// Independent estimates of one likelihood, as tasks.
#pragma once

#include "mckean/likelihood.hpp"
#include "paper/record.hpp"

namespace mckean {

struct LikelihoodDraw {
  double loglik = 0, work = 0;
  std::vector<double> prediction_errors;
  std::vector<std::string> one_particle;  // observations at which one carries all the weight
};
constexpr auto record_of(const LikelihoodDraw*) {
  return record("likelihood", &LikelihoodDraw::loglik, &LikelihoodDraw::work, &LikelihoodDraw::prediction_errors,
                &LikelihoodDraw::one_particle);
}

// Those numbered first, first + 1, …; the group names the tasks. Throws NumericalError where there is none, and
// Stopped.
std::vector<LikelihoodDraw> draw_likelihoods(const Engine&, std::span<const double> theta, const AverageOptions&,
                                             std::uint32_t first, std::size_t count, TaskRunner&);
LikelihoodAverage averaged(std::span<const LikelihoodDraw>);
}  // namespace mckean
