// The log-likelihood on the line, where bounded parameters are unbounded: θ(u) and the chain rule to second order.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "engine/quadrature/quadrature.hpp"

namespace mckean {

struct LinePoint {
  Eigen::VectorXd u;
  std::vector<double> theta;
  QuadratureValue value;     // derivatives in θ
  Eigen::VectorXd gradient;  // in u
  Eigen::MatrixXd hessian;
};

LinePoint evaluate_on_line(const Quadrature&, const Eigen::VectorXd& u, double temper);  // throws NumericalError
}  // namespace mckean
