// Values of the diffusion itself at fixed θ, by an exact engine.
#pragma once

#include "mckean/engine.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

struct ContinuousValue {
  Evaluation evaluation;
  std::vector<int> levels;  // that were extrapolated; none where the engine has continuous time
};

// Throws NumericalError where there is no likelihood, and Stopped.
ContinuousValue in_continuous_time(const Engine&, std::span<const double> theta, Order, TaskRunner&);
}  // namespace mckean
