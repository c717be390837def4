#include "infer/line.hpp"

#include <cmath>

namespace mckean {
namespace {

// d²θ/du².
double curvature(const Parameter& p, double u) {
  const bool below = std::isfinite(p.lower), above = std::isfinite(p.upper);
  if (below && above) return -p.slope(u) * std::tanh(u / 2);
  return below || above ? p.slope(u) : 0;
}
}  // namespace

LinePoint evaluate_on_line(const Quadrature& quadrature, const Eigen::VectorXd& u, double temper) {
  const auto& parameters = quadrature.model().parameters();
  LinePoint point{u, {}, {}, {}, {}};
  Eigen::VectorXd slope(u.size()), bend(u.size());
  for (Eigen::Index i = 0; i < u.size(); ++i) {
    const Parameter& p = parameters[static_cast<std::size_t>(i)];
    point.theta.push_back(p.from_line(u(i)));
    slope(i) = p.slope(u(i));
    bend(i) = curvature(p, u(i));
  }
  point.value = quadrature.value(point.theta, Quadrature::Order::second, temper);
  point.gradient = slope.cwiseProduct(point.value.gradient);
  point.hessian = slope.asDiagonal() * point.value.hessian * slope.asDiagonal();
  point.hessian.diagonal() += bend.cwiseProduct(point.value.gradient);
  return point;
}
}  // namespace mckean
