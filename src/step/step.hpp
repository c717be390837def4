// One normal step of the dynamics, as expressions:
//
//   x' = x + flow · rate + √variance σ z,   z standard normal
//
// with the times of a StepTime. The rate is made of slopes: the drift at points that are made of x and of the slopes
// before, each with the averages over a law whose particles are at their own such points. What a law's programs and a
// path's density need is derived from these alone.
#pragma once

#include <vector>

#include "mckean/scheme.hpp"
#include "step/mean_field.hpp"

namespace mckean {

struct Step {
  // Expressions of x, t, flow, the parameters, the averages that the field measures at the stage's points, and the
  // slopes of earlier stages, component by component.
  struct Stage {
    double share;  // of the flow before it
    std::vector<Expr> point;
    std::vector<Expr> slope;   // the drift there
    std::vector<Expr> symbol;  // columns that stand for the slope in later stages; none in the last one
  };
  std::vector<Stage> stages;
  std::vector<Expr> rate;                // of the earlier slopes' symbols and the last slope
  std::vector<std::vector<Expr>> sigma;  // by source of noise, at x and t; free of parameters
  bool sigma_on_arrival = false;         // else where the step begins
  Expr flow_per_variance;                // 1 for Euler
};

using StepMaker = Step (*)(const Model&, const MeanField&);

// Some components: where they are, their drift and their rows of the noise.
struct Motion {
  std::vector<Expr> x, drift;
  std::vector<std::vector<Expr>> sigma;
};

// rate is the drift at x, and flow = variance = Δ.
Step euler_step(const Model&, const Motion&);
Step euler_step(const Model&, const MeanField&);  // of all components
// The classical method of four stages. An interaction that is pairwise is averaged at x alone, for all stages.
Step splitting_step(const Model&, const Motion&);
Step splitting_step(const Model&, const MeanField&);
StepMaker step_of(Scheme);

// The symbols of a step's times.
struct StepSymbols {
  StepSymbols() = default;
  explicit StepSymbols(const Model&);
  Expr t, flow, variance, root, next_t;  // root: √variance
};
}  // namespace mckean
