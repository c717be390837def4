// Parameters as a point on the line: where bounded ones are unbounded.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "mckean/model.hpp"

namespace mckean {

Eigen::VectorXd to_line(const Model&, std::span<const double> theta);
std::vector<double> from_line(const Model&, const Eigen::VectorXd& u);
Eigen::VectorXd slopes(const Model&, const Eigen::VectorXd& u);  // dθ/du
}  // namespace mckean
