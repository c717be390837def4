// The programs of a filter that looks ahead: how observations are forecast, and how a step is bent towards them.
//
// What is seen of the state at an observation is written as a vector h(x) whose law is about normal; a uniform matrix W
// whitens it. With μ = x + flow · rate, noise √variance σ z, and the flow m to the time of the observation,
//
//   e = W y − W h(m(μ)),   b = W ∂h(m(μ))/∂z,   z ~ N(P⁻¹ bᵀ e, P⁻¹) with P = I + bᵀ b in place of N(0, I)
//
// is the step given the observation, where m is linear and W has the noise behind this step. P = L D Lᵀ in the graph.
#pragma once

#include "program/program.hpp"
#include "step/step.hpp"

namespace mckean {

// A number that is seen of the state: of a named density its mean, or that of its logarithm; of a bare log density each
// component that it reads.
struct SeenNumber {
  enum class Kind { value, logarithm, component };
  std::size_t column;  // observed
  Kind kind;
  std::size_t component;  // of the last kind
};

struct Ahead {
  Ahead(const Model&, std::size_t rank, StepMaker = euler_step);

  std::size_t dimension, sources;
  std::vector<SeenNumber> seen;

  // In all: fixed inputs are the parameters; directions are columns, source by source, component by component.
  // columns: x, ξ | uniforms: t, flow, √variance, inputs | outputs: μ, √variance σ as directions
  Program launch;
  // A step without flow. columns: x | uniforms: t, √variance | outputs: directions
  Program spread;
  // columns: x, ξ | uniforms: t, flow, inputs | outputs: x + flow · rate, the rate taken inside the law's windows
  Program flow;
  // The same with directions behind x, and what becomes of them behind the outputs; ξ stands still.
  Program carry;
  // columns: x | uniforms: t, W by rows, W y | outputs: |e|²
  Program miss;
  // columns: μ, directions at μ, m(μ), directions there, z | uniforms: t, W by rows, W y
  // outputs: x, log f/q
  Program steer;
  // The same for a step whose z is known. columns: m(μ), directions there, z | uniforms as of steer | outputs: log f/q
  Program judge;
  // Both for the last step before the observation, where h is linearised once more at the first answer: that is all it
  // takes for curved h. columns: μ, directions, z
  Program steer_last, judge_last;
  // columns: x, directions | uniforms: t, all observed values
  // outputs: the numbers seen and their variances (0 for components); their derivatives along each direction; for each
  // component its slope of the log density, then minus the second derivatives with all components of its column
  Program observe;
};
}  // namespace mckean
