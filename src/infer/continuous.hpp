// Values of the diffusion itself at fixed θ, by an exact engine.
#pragma once

#include "mckean/engine.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

// An effort at which the engine has the diffusion itself, or comes close to it from these levels on.
Effort continuous_effort(const Engine&, int lowest);

// With the levels that were extrapolated: more and more until that changes nothing. None where the engine has
// continuous time. `error`: about what may be left in the log-likelihood. Throws NumericalError where there is no
// likelihood, and Stopped.
Evaluation in_continuous_time(const Engine&, std::span<const double> theta, Order, TaskRunner&, double error = 1e-5);
}  // namespace mckean
