// Coordinates in which noise of a known form is of size 1 (Lamperti's transform): with dx/dz = s(x), dx = a dt + s dW
// becomes dz = (a/s − s'/2) dt + dW. Formulas in z have constant noise, so that splitting steps serve them, whose error
// is of second order.
//
//   s² = A u² + B u + C, u = x − x0 (geometric, square-root, Jacobi noise and √(a + b x²)):
//        x'' = A u + B/2, so that x(z) is a parabola, a sum of exponentials or one of sine and cosine
//   s quadratic with x0 between its roots: a logistic function
#pragma once

#include <optional>

#include "problem/blocks.hpp"

namespace mckean {

struct Chart {
  Expr x, slope, bend;  // x(z), its first and second derivative; the symbol of the kind's component stands for z
  double lo, hi;        // where the noise vanishes; not finite where it never does. z = 0 at the start
};

// Of a kind of one component whose noise depends on the state; none where it is of another form.
std::optional<Chart> chart_of(const BlockKind&);

// σ of one component: the root of Σ σ_s² over the sources of noise.
Expr noise_of(const BlockKind&);

// Writes kinds whose noise depends on the state in z: drifts, noise, starts, moments and what is observed of them;
// pairwise averages are left, since they belong to two kinds. The charts of all kinds; none of those that stay.
std::vector<std::optional<Chart>> make_noise_constant(Blocks&);
}  // namespace mckean
