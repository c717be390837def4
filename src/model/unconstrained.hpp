// Parameters in coordinates without bounds.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "mckean/model.hpp"

namespace mckean {

Eigen::VectorXd unconstrained(std::span<const Parameter>, std::span<const double> theta);
std::vector<double> natural(std::span<const Parameter>, const Eigen::VectorXd& u);
// θ after a turn through unconstrained coordinates, as all chains have it: equal up to rounding.
std::vector<double> through_unconstrained(std::span<const Parameter>, std::span<const double> theta);
Eigen::VectorXd slopes(std::span<const Parameter>, const Eigen::VectorXd& u);  // dθ/du

// From derivatives by θ to derivatives by u. Parameters that are not free have none.
class ChainRule {
 public:
  ChainRule(std::span<const Parameter>, const Eigen::VectorXd& u);
  ChainRule(std::span<const Parameter>, const Eigen::VectorXd& u, const std::vector<bool>& free);

  Eigen::VectorXd gradient(std::span<const double>) const;
  // J M J with J = dθ/du: of information matrices, and of the covariances of gradients.
  Eigen::MatrixXd information(const Eigen::MatrixXd&) const;
  // J H J + diag(g d²θ/du²): of a second derivative by θ, where the first is g.
  Eigen::MatrixXd hessian(const Eigen::MatrixXd&, std::span<const double> gradient) const;

 private:
  Eigen::VectorXd slope_, bend_;  // dθ/du, d²θ/du²
};
}  // namespace mckean
