// The programs of one model's dynamics: how a law's particles are measured and moved, and how a particle that
// only reads the law moves.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "program/program.hpp"
#include "step/ahead.hpp"
#include "step/cell_plan.hpp"
#include "step/step.hpp"

namespace mckean {

// What a normal variate costs, and a step of a model of two equations, in additions.
inline constexpr double kNormalCost = 5, kTypicalCost = 20;

// Fixed inputs of all: the parameters. Where tangents are on, S^i = ∂X^i/∂θ is carried for each parameter that
// the dynamics contain ("dynamic"); columns and sums of tangents follow those of values, parameter by parameter.
struct Dynamics {
  Dynamics(const Model&, std::size_t rank, bool tangents, StepMaker = euler_step);

  Model model;  // a copy, for the expressions of the field
  MeanField field;
  std::vector<std::size_t> dynamic;  // indices of the parameters that the drift or an interaction contains
  std::size_t dimension, sources;    // components of the state, sources of noise
  std::size_t tangents;              // columns of S: dimension × dynamic, or 0
  std::size_t stages;                // of a step, each with averages of its own
  std::vector<double> shares;        // of the flow before each stage
  std::size_t carried;               // columns of shared subexpressions kept from one step to the next
  bool fused;                        // `stage` and `advance` also measure where they arrive

  // columns: x, S | uniforms: t, inputs (only the windows are read) | outputs: carried | sums: moments, ∂moments
  Program measure;
  // Of each stage but the last. columns: x, S, then slope and ∂slope of each stage before, ξ, ∂ξ | uniforms: t, flow,
  // inputs, ∂inputs of the stage | outputs: slope, ∂slope; where not fused, x and S at the next stage's points | sums:
  // moments, ∂moments there, if fused
  std::vector<Program> stage;
  // columns: x, S, carried, slopes as above, ξ, ∂ξ, z | uniforms: t, flow, √variance, next t, inputs, ∂inputs of the
  // last stage | outputs: x, S, carried | sums: moments, ∂moments (carried and sums only if fused)
  Program advance;
  // A step without flow. columns: x, S, z | uniforms: t, √variance | outputs: x, S | sums as of advance
  Program advance_noise;
  // From here on `inputs` are those of all stages, one after the other.
  // columns: x, ξ, z | uniforms: t, flow, √variance, inputs | outputs: x, and for each later stage its point's
  // components that have a window
  Program move;
  // A step without flow. columns: x, z | uniforms: t, √variance | outputs: x
  Program move_noise;
  // columns: x, S | uniforms: t, x', S' | outputs: ξ, ∂ξ. Where an interaction is pairwise.
  std::optional<Program> pair;
  // As `pair`, for particles that only read the law; and for one of them, with the law's particles as columns:
  // columns: x', S' | uniforms: t, x | sums: ξ, ∂ξ
  std::optional<Program> read_pair, pair_sum;
  // Instead of these, where the rank is not 0 and all pairwise interactions allow it.
  std::optional<CellPlan> cells;
  // Many steps at once, each with its own time and law. columns: x, t, flow, √variance, inputs, ξ, z | outputs: x
  Program replay;
  // columns: x, ξ | uniforms: t, flow, variance, inputs, next x | outputs: log density of the step to it, up to a
  // constant
  Program transition;
  // Many steps of one path at once. columns: x, next x, t, flow, variance, inputs, ∂inputs, ξ, ∂ξ | outputs: the later
  // stages' points as of move | sums: H of each dynamic parameter, then the complete-data information of each pair
  // p <= q. Where tangents are on.
  Program score;
  bool centred_score =
      false;  // H is all of it: where tangents are on, and no noise-free component moves with a parameter
  // Of each expansion: columns: x_i | uniforms: x'_j | outputs: k, then ∂k by each dynamic parameter.
  std::vector<Program> expansion_kernels;

  std::size_t moments() const { return field.moments.size(); }
  std::size_t inputs() const { return field.inputs.size(); }
  // Of a particle's step, in those of a model of two equations.
  double cost() const { return (move.cost() + kNormalCost * static_cast<double>(sources)) / kTypicalCost; }
  bool reads_law() const { return inputs() > 0 || !field.pairwise.empty(); }  // else it is an ordinary diffusion
};

// Everything that is compiled for a model, made when first needed and shared by all threads.
class System {
 public:
  explicit System(const Model&);
  const Model& model() const { return *model_; }

  // Ranks of expansions to try, in order; the last, 0, means pairwise. Models without expansions have {0} only; those
  // whose only expansions are on cells, which find their degree themselves, {1, 0}.
  const std::vector<std::size_t>& ranks() const { return ranks_; }
  std::shared_ptr<const Dynamics> dynamics(Scheme, std::size_t rank, bool tangents) const;
  std::shared_ptr<const Ahead> ahead(Scheme, std::size_t rank) const;

 private:
  const Model* model_;
  std::vector<std::size_t> ranks_;
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<Scheme, std::size_t, bool>, std::shared_ptr<const Dynamics>> made_;
  mutable std::map<std::pair<Scheme, std::size_t>, std::shared_ptr<const Ahead>> made_ahead_;
};
}  // namespace mckean
