// The gradient of the log-likelihood, by chains of smoothed paths.
#pragma once

#include "mckean/smooth.hpp"

namespace mckean {

struct ScoreOptions : SmoothOptions {
  bool finite_difference = false;  // the paper's derivative of the law, in place of its tangent
};

struct ScoreEstimate {
  std::vector<double> value, se;  // of each parameter; errors from the spread of the chains
  std::size_t particles = 0, law_particles = 0;
  std::uint64_t particle_steps = 0;
};

// At θ. Takes at least two chains. Throws InputError, NumericalError, and Stopped.
ScoreEstimate estimate_score(const Problem&, std::span<const double> theta, const ScoreOptions&, TaskRunner&);
}  // namespace mckean
