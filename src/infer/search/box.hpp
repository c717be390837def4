// The coordinates of a search: natural ones, scaled by the start values, with bounds as constraints. A coupling
// strength near its bound 0 has a flat likelihood on a logarithmic scale, and nearly a parabola on its own.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "mckean/model.hpp"

namespace mckean::search {

class Box {
 public:
  explicit Box(std::span<const Parameter>);

  Eigen::Index size() const { return scale.size(); }
  Eigen::VectorXd from(std::span<const double> theta) const;
  std::vector<double> theta(const Eigen::VectorXd& z) const;
  // The nearest point within the bounds, off them by a millionth of the scale: a likelihood may not exist on them.
  Eigen::VectorXd inside(const Eigen::VectorXd& z) const;
  // Those beyond a bound mirrored at it.
  Eigen::VectorXd reflected(const Eigen::VectorXd& z) const;

  Eigen::VectorXd scale, lower, upper;  // bounds in units of the scale
};
}  // namespace mckean::search
