// The programs of a one-dimensional model on a grid: its Euler kernel, averages over the law and observation densities,
// each with first and second derivatives in the parameters.
#pragma once

#include <optional>

#include "program/program.hpp"
#include "step/step.hpp"

namespace mckean {

// Inside, the "dynamic" parameters, which drift or interactions contain, come first: a law has derivatives in them
// alone. Several numbers with jets are laid out entry by entry: all values, then all ∂_1, ...
struct Formulas {
  Formulas(const Model&, bool derivatives);  // of a model of one component, with noise

  std::vector<std::size_t> order;  // the model's index of each parameter; empty without derivatives
  std::size_t dynamic = 0;         // how many of them are dynamic
  std::size_t all() const { return order.size(); }
  bool reads_law() const { return !field.inputs.empty() || !field.pairwise.empty(); }

  Model model;      // a copy, for the expressions of the field
  MeanField field;  // without expansions: averages are taken on the law's grid
  // Fixed inputs of all: the parameters.
  // columns: x, jets of ξ | uniforms: t, flow, √variance, jets of moments | outputs: jet of x + aΔ, standard deviation
  Program step;
  // Where the noise depends on the state: its size s(x) at t = 0. columns: x | outputs: s, ds/dx
  std::optional<Program> scale;
  // columns: x, w | uniforms: mean, 1/sd | outputs: b = w exp(−z²/2)/sd, bz, b(z² − 1), z = (x − mean)/sd
  Program bell;
  // columns: x, jet of the law's mass | uniforms: t | sums: jets of moments
  Program measure;
  // As `measure`, for pairwise interactions felt at one point. columns: x', jet of mass | uniforms: t, x | sums: jets
  // of ξ
  std::optional<Program> pair;
  // Where all pairwise kernels depend on d = x − x' alone. columns: d | uniforms: t | outputs: their jets
  std::optional<Program> difference;
  std::vector<bool> difference_is_zero;  // of each output
  // Of each observed column. columns: x | uniforms: t, y | outputs: jet of log G, ∂²log G/∂z², dz = dx/s
  std::vector<Program> observe;
};
}  // namespace mckean
