// A function of a state in blocks as a sum of products of functions of one block each.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "mckean/expr.hpp"

namespace mckean {

// coefficient · Π_b factor_b(x_b); the coefficient reads no state.
struct BlockProduct {
  Expr coefficient;
  std::map<std::size_t, Expr> factors;  // by block
};

// Sums, products, whole powers, quotients by one block, and exp, sin and cos of sums are expanded. Nothing where the
// algebra does not reach, or where there would be too many products.
std::optional<std::vector<BlockProduct>> block_products(Expr, const std::function<std::size_t(Expr state)>& block_of);
}  // namespace mckean
