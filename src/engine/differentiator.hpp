// Jets of expressions: value, first and second derivatives in the parameters.
#pragma once

#include <span>
#include <vector>

#include "engine/jet.hpp"
#include "mckean/model.hpp"

namespace mckean {

// Derivatives of expressions of parameters and of symbols that themselves have jets. The model is a copy that may grow.
class Differentiator {
 public:
  // In the first `parameters` of the given order.
  Differentiator(const Model&, std::span<const std::size_t> order, std::size_t parameters);

  // Declares that each base moves with θ, by symbols of its own; returns the jets of all, entry by entry.
  std::vector<Expr> moving(const std::vector<Expr>& bases, Kind::Bits, const char* name);

  std::vector<Expr> jets(const std::vector<Expr>& roots) const;  // of all, entry by entry

 private:
  const Model& model_;
  std::size_t parameters_;
  std::vector<Substitution> along_;  // by parameter, from 1
};
}  // namespace mckean
