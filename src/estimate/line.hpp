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

// A scaled copy with unit diagonal, its inverse, and combinations that it does not determine.
// Directions whose eigenvalue, relative to the diagonal, is below `least` are left out of the inverse.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd&, double least = 1e-9);
}  // namespace mckean
