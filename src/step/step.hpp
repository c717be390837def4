// One normal step of the dynamics, as expressions:
//
//   x' = x + flow · rate + √variance σ z,   z standard normal
//
// with the times of a StepTime. What a law's programs and a path's density need is derived from these alone.
#pragma once

#include <vector>

#include "step/mean_field.hpp"

namespace mckean {

struct Step {
  // Expressions of x, t, flow, the parameters and the averages that the field measures, component by component.
  std::vector<Expr> rate;
  std::vector<std::vector<Expr>> sigma;  // by source of noise; free of parameters
  Expr flow_per_variance;                // 1 for Euler
};

using StepMaker = Step (*)(const Model&, const MeanField&);

// rate is the drift at x, and flow = variance = Δ.
Step euler_step(const Model&, const MeanField&);

// The symbols of a step's times.
struct StepSymbols {
  StepSymbols() = default;
  explicit StepSymbols(const Model&);
  Expr t, flow, variance, root, next_t;  // root: √variance
};
}  // namespace mckean
