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

  void carry();  // before measure and advance
  ProgramSpec measure() const;
  ProgramSpec advance(bool fused) const;
  ProgramSpec move() const;
  ProgramSpec pair(bool with_own) const;
  ProgramSpec pair_sum() const;
  ProgramSpec kernel(const Expansion&) const;
  ProgramSpec replay() const;
  ProgramSpec transition() const;
  ProgramSpec score() const;
  SymbolicStep symbolic() const { return {time_, field_.inputs, x_, xi_, step_.rate, step_.sigma}; }
  std::size_t carried() const { return carried_.size(); }

 private:
  Expr column(const char* name, std::size_t i) const;
  Expr uniform(const char* name, std::size_t i) const;
  std::vector<Expr> next_state() const;
  template <class Value>
  std::vector<Expr> noisy(Value&& value_of_component) const;
  std::vector<Expr> residual() const;
  Substitution seeds(std::size_t p) const;

  const Model& model_;
  const MeanField& field_;
  Graph& graph_;
  std::size_t parameters_;
  std::vector<Expr> x_, s_, z_, xi_, dxi_, dm_, theta_, to_, next_x_, next_s_, measured_, carried_, carry_columns_;
  StepSymbols time_;
  Step step_;
};
}  // namespace mckean
