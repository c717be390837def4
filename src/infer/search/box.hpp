// The coordinates of a search: natural ones, scaled by the start values, with bounds as constraints. A coupling
// strength near its bound 0 has a flat likelihood on a logarithmic scale, and nearly a parabola on its own. Others,
// such as rates that only together with another one are known well, have a parabola on a logarithmic scale. Both are
//   z = L + c log(1 + (θ/scale − L)/c)
// with the lower bound L: natural near the bound, or everywhere where c is infinite, and logarithmic far from it.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <span>
#include <vector>

#include "mckean/model.hpp"

namespace mckean::search {

class Box {
 public:
  explicit Box(std::span<const Parameter>);

  Eigen::Index size() const { return scale.size(); }
  // Whether a parameter may have another c: it has one bound, which is the lower one.
  bool bends(Eigen::Index i) const { return std::isfinite(lower[i]) && !std::isfinite(upper[i]); }
  // The value of one parameter, and what a small step in z moves it by.
  double natural(Eigen::Index i, double z) const;
  double slope(Eigen::Index i, double z) const;
  Eigen::VectorXd slopes(const Eigen::VectorXd& z) const;
  // A distance from the bound, in units of the scale, in z.
  double bent(Eigen::Index i, double distance) const;
  Eigen::VectorXd from(std::span<const double> theta) const;
  std::vector<double> theta(const Eigen::VectorXd& z) const;
  // The nearest point within the bounds, off them by a millionth of the scale: a likelihood may not exist on them.
  Eigen::VectorXd inside(const Eigen::VectorXd& z) const;
  // Those beyond a bound mirrored at it.
  Eigen::VectorXd reflected(const Eigen::VectorXd& z) const;

  Eigen::VectorXd scale, lower, upper;  // bounds in units of the scale
  Eigen::VectorXd bend;                 // c
};
}  // namespace mckean::search
