// How the state and the mean of the law move from one observation to the next.
#pragma once

#include "engine/kalman/linear_formulas.hpp"
#include "problem/grid.hpp"

namespace mckean {

// x ↦ F x + M m + f + N(0, Q); the mean of the law moves alike, m ↦ (F + M) m + f.
struct Propagation {
  JetMatrix F, M, f, Q;
};

Propagation euler_step(const Coefficients&, const StepTime&);
// The flow by the classical Runge-Kutta method, with the law's mean and covariance at its stages; then the noise, whose
// covariance is taken where that leads.
Propagation splitting_step(LinearFormulas::Reader&, const StepTime&, const JetMatrix& law_mean,
                           const JetMatrix& law_covariance);
// `first`, and `second` after it.
Propagation composed(const Propagation& first, const Propagation& second);
// n equal steps, in O(log n) products.
Propagation repeated(const Propagation& step, std::size_t n);
// Of the diffusion itself over a time h: a Taylor series over a short time, doubled until it is long enough.
Propagation exactly(const Coefficients&, double h);
}  // namespace mckean
