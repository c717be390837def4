// Σ = σσᵀ of the noisy components, factorised as L D Lᵀ in the graph: what does not depend on the particle is hoisted
// like everything else, and a diagonal σ costs nothing.
#pragma once

#include <vector>

#include "mckean/model.hpp"

namespace mckean {

class Whitening {
 public:
  Whitening(const Model&, const std::vector<std::vector<Expr>>& sigma);  // rows of σ, a component each

  std::vector<Expr> operator()(const std::vector<Expr>& v) const;                      // L⁻¹ v
  Expr product(const std::vector<Expr>& white, const std::vector<Expr>& other) const;  // of two such: vᵀ Σ⁻¹ w
  Expr log_determinant() const;                                                        // of Σ

 private:
  Graph& graph_;
  std::vector<std::vector<Expr>> lower_;  // below the diagonal of L
  std::vector<Expr> diagonal_;            // of D
};
}  // namespace mckean
