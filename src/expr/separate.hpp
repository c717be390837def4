// Separation of an interaction: ξ(x, x') = Σ_r φ_r(x) ψ_r(x') k_r(x_i, x'_j).
#pragma once

#include <optional>
#include <vector>

#include "mckean/expr.hpp"

namespace mckean {

struct SeparatedTerm {
  Expr own;    // φ_r: no primed state
  Expr other;  // ψ_r: no unprimed state; parameters and time may stand in either
  Expr atom;   // k_r: what the algebra could not split, a function of few x_i and x'_j; empty: 1
};

// Sums, products, integer powers, quotients by one-sided factors, and sin, cos, exp, sinh, cosh of sums are
// expanded; everything one-sided is a single factor. Nothing when the algebra does not reach (a function of
// more components than an atom may have that does not split), or when the expansion has more than `most` terms.
// An atom has at most `width` components of x and as many of x'.
std::optional<std::vector<SeparatedTerm>> separate(Expr kernel, std::size_t most = 128, int width = 1);
}  // namespace mckean
