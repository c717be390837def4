// The programs of a step: how a law's particles and those that read it are measured and moved, and densities and scores
// of paths, each derived from the expressions of the step.
#pragma once

#include "program/program.hpp"
#include "step/step.hpp"

namespace mckean {

// A step in symbols, for whoever derives programs of their own from it.
struct SymbolicStep {
  StepSymbols time;
  std::vector<Expr> inputs, x, xi;       // averages over the law; columns
  std::vector<Expr> rate;                // by component
  std::vector<std::vector<Expr>> sigma;  // by component and source, where the step adds its noise
};

// Each member function specifies the program of the same name in Dynamics.
class Derivation {
 public:
  // Tangents by the given parameters; none: values only.
  Derivation(const Model&, const MeanField&, const std::vector<std::size_t>& parameters, StepMaker);

  void carry();  // before measure and advance; where a step has one stage
  ProgramSpec measure() const;
  ProgramSpec stage(std::size_t i, bool fused) const;
  ProgramSpec advance(bool fused) const;
  ProgramSpec advance_noise(bool fused) const;
  ProgramSpec move() const;
  ProgramSpec move_noise() const;
  ProgramSpec pair(bool with_own) const;
  ProgramSpec pair_sum() const;
  ProgramSpec kernel(const Expansion&) const;
  ProgramSpec replay() const;
  ProgramSpec transition() const;
  ProgramSpec score() const;
  SymbolicStep symbolic() const { return {time_, all_inputs(), x_, xi_, rate_, sigma_after(rate_)}; }
  bool centred_score() const;
  std::size_t carried() const { return carried_.size(); }
  std::size_t stages() const { return step_.stages.size(); }
  double share(std::size_t stage) const { return step_.stages[stage].share; }

 private:
  Expr column(const char* name, std::size_t i) const;
  Expr uniform(const char* name, std::size_t i) const;
  void add_stages();
  Substitution closing(std::size_t stage) const;
  std::vector<Expr> next_state(const std::vector<Expr>& rate) const;
  std::vector<Expr> next_by_noise() const;
  Expr with_noise(Expr point, const std::vector<Expr>& sigma) const;
  Expr log_density() const;
  std::vector<std::vector<Expr>> sigma_after(const std::vector<Expr>& rate) const;
  std::vector<Expr> tangents_of(const std::vector<Expr>&) const;
  Substitution arriving(Expr t, const std::vector<Expr>& x, const std::vector<Expr>& s) const;
  template <class Value>
  std::vector<Expr> noisy(Value&& value_of_component) const;
  std::vector<Expr> residual() const;
  std::vector<Expr> window_points() const;
  std::vector<Expr> all_inputs() const;
  std::vector<Expr> all_input_tangents() const;
  Substitution seeds(std::size_t p) const;
  Substitution seeds_of_law(std::size_t p) const;

  const Model& model_;
  const MeanField& field_;
  Graph& graph_;
  std::size_t parameters_;
  std::vector<Expr> x_, s_, z_, xi_, dxi_, theta_, to_, next_x_, next_s_, measured_, carried_, carry_columns_;
  std::vector<std::vector<Expr>> inputs_, dm_;  // averages at each stage's points, and their tangents
  StepSymbols time_;
  Step step_;
  std::vector<std::vector<Expr>> slope_tangents_;  // columns, stage by stage
  std::vector<Expr> rate_;                         // of x alone, without the slopes' symbols
};
}  // namespace mckean
