// Interactions that smooth functions of two components of x and the same two of x' make up, as sums over the law's
// particles that can be expanded on the cells of a lattice in these components:
//
//   ξ̄(x) = Σ_r φ_r(x) F_r(x),   F_r(x) = mean of ψ_r(X) k_r(x_a, x_b, X_a, X_b)
//
// and the derivatives of ξ̄ by θ, with kernels that are derivatives of k and weights that contain the tangents S.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "program/program.hpp"
#include "step/mean_field.hpp"

namespace mckean {

struct CellSum {
  std::size_t weight, kernel;
};

struct CellPlan {
  std::array<std::size_t, 2> axes;  // the two components
  // First those of the values, then those that derivatives at a fixed x add, then those of x that moves by its S.
  std::vector<CellSum> sums;
  std::size_t value_sums, read_sums;

  Program weights;               // columns: x, S | uniforms: t | outputs: ψ of each weight
  std::vector<Program> kernels;  // columns: x_a, x_b | uniforms: x'_a, x'_b | outputs: k
  Program values;                // columns: x, F of the values | uniforms: t | outputs: ξ̄
  Program read;  // columns: x, F of the first two kinds | uniforms: t | outputs: ξ̄, ∂ξ̄ at fixed x
  Program own;   // columns: x, S, F of all | uniforms: t | outputs: ξ̄, ∂ξ̄
};

// The components of such a form, where all the pairwise interactions of a field have it with the same two.
std::optional<std::array<std::size_t, 2>> cell_axes(const Model&, const MeanField&);

// Of interactions that have it. Tangents by the given parameters; none: values only.
CellPlan plan_cells(const Model&, const MeanField&, const std::vector<std::size_t>& parameters);
}  // namespace mckean
