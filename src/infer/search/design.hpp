// Where further values tell most: points for a polynomial whose slope and curvature at the centre are wanted. Of normal
// points the cubic terms take most of what is learnt of the slope; points that are chosen need half as many.
#pragma once

#include "infer/search/normal_draws.hpp"
#include "infer/search/polynomial.hpp"

namespace mckean::search {

class Design {
 public:
  // Beside samples that there are already.
  Design(std::span<const Sample> known, const Region& region, int degree);

  // A point u that is to be sampled together with −u: of a few normal ones the best, which counts as sampled from now
  // on.
  Eigen::VectorXd next(NormalDraws&, double width);
  // Covariance of the gradient at the centre, for samples of variance 1.
  Eigen::MatrixXd gradient_error() const { return covariance_.block(1, 1, variables_, variables_); }

 private:
  Eigen::Index variables_;
  int degree_;
  Eigen::MatrixXd covariance_;  // of the coefficients
};
}  // namespace mckean::search
