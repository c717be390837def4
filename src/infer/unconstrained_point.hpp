// An exact log-likelihood in coordinates without bounds: θ(u) and the chain rule to second order.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "mckean/engine.hpp"

namespace mckean {

struct UnconstrainedPoint {
  Eigen::VectorXd u;
  std::vector<double> theta;
  double loglik = 0, work = 0;
  Eigen::MatrixXd information;  // in θ
  Eigen::VectorXd gradient;     // in u
  Eigen::MatrixXd hessian;
};

Result<UnconstrainedPoint> evaluate_unconstrained(const Engine&, const Eigen::VectorXd& u, const Request&);
}  // namespace mckean
