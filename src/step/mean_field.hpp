// How the law enters the drift: each interaction's average over the law, written with a few numbers per step.
//
//   exact      ξ = Σ φ_r(x) ψ_r(x')              the numbers are m_r = mean ψ_r(X)
//   Chebyshev  ξ = φ(x) ψ(x') k(x_i, x'_j)       k on the window that the particles occupy as Σ C_pq T_p T_q; the
//                                                numbers are b_p = Σ_q C_pq mean[ψ(X) T_q(X_j)], p < rank
//   pairwise   anything else                     no numbers: the mean over all particles, N per particle; or, of smooth
//                                                functions of two components, by expansions on cells (cell_plan.hpp)
#pragma once

#include <map>
#include <vector>

#include "expr/separate.hpp"
#include "mckean/model.hpp"

namespace mckean {

// One factor k(x_i, x'_j) that is expanded, with one ψ.
struct Expansion {
  Expr kernel;                            // k, in the unprimed symbol of x_i and the primed one of x'_j
  Expr own, other;                        // x_i, x'_j
  std::size_t own_window, other_window;   // whose ranges it is expanded on
  std::size_t first_moment, first_input;  // `rank` of each
};

// A component on whose range something is expanded; the range is [center − 1/scale, center + 1/scale].
struct Window {
  std::size_t component;
  std::size_t center_input;  // its scale is the next one
};

struct PairwiseInteraction {
  Expr kernel;  // ξ(x, x')
  Expr column;  // its mean over the law, as the drift reads it: a number for each particle
};

enum class Method { exact, chebyshev, pairwise };

struct MeanField {
  // rank: terms of each expansion; 0 replaces expansions by pairwise sums.
  MeanField(const Model&, std::size_t rank);

  std::size_t rank;
  std::vector<Expr> moments;  // ψ_r as functions of the (unprimed) state: their means over the law
  std::vector<Expr> inputs;   // symbols of the numbers that the drift reads: the exact moments first
  std::size_t exact = 0;      // how many moments are read as they are
  std::vector<Expansion> expansions;
  std::vector<Window> windows;
  std::vector<PairwiseInteraction> pairwise;
  std::vector<Method> methods;     // of each interaction of the model
  std::vector<std::size_t> ranks;  // moments that each interaction reads
  Substitution replace;            // interaction → its average in these numbers
};

// The same with x in place of every x'.
Expr unprimed(Expr);

// T_0 .. T_{rank-1} of x scaled to a window.
std::vector<Expr> chebyshev_polynomials(Expr x, Expr center, Expr scale, std::size_t rank);
}  // namespace mckean
