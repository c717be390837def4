// factor · e with the factor multiplied into the terms of a sum, so that x + factor · e is one linear combination. Sums
// that are used more than once stay whole. Safe where the result is added to x, whose rounding is no smaller.
#pragma once

#include "mckean/expr.hpp"

namespace mckean {
Expr distribute(Expr factor, Expr e);
}  // namespace mckean
