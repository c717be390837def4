// The expressions of a model's dynamics, from which its programs are compiled.
#pragma once

#include "program/program.hpp"
#include "step/mean_field.hpp"

namespace mckean {

// Each member function specifies the program of the same name in Dynamics.
class Writer {
 public:
  // Tangents by the given parameters; none: values only.
  Writer(const Model&, const MeanField&, const std::vector<std::size_t>& parameters);

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
  std::size_t carried() const { return carried_.size(); }

 private:
  Expr column(const char* name, std::size_t i) const;
  Expr uniform(const char* name, std::size_t i) const;
  std::vector<Expr> drift() const;
  std::vector<Expr> euler_step() const;
  std::vector<Expr> residual() const;
  Substitution seeds(std::size_t p) const;

  const Model& model_;
  const MeanField& field_;
  Graph& graph_;
  std::size_t parameters_;
  std::vector<Expr> x_, s_, z_, xi_, dxi_, dm_, theta_, to_, next_x_, next_s_, measured_, carried_, carry_columns_;
  Expr t_, flow_, variance_, root_, next_t_;
};
}  // namespace mckean
