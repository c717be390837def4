// Parameters in coordinates without bounds.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "mckean/model.hpp"

namespace mckean {

Eigen::VectorXd unconstrained(std::span<const Parameter>, std::span<const double> theta);
std::vector<double> natural(std::span<const Parameter>, const Eigen::VectorXd& u);
Eigen::VectorXd slopes(std::span<const Parameter>, const Eigen::VectorXd& u);  // dθ/du
}  // namespace mckean
