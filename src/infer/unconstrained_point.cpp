#include "infer/unconstrained_point.hpp"

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

Result<UnconstrainedPoint> evaluate_unconstrained(const Engine& engine, const Eigen::VectorXd& u,
                                                  const Request& request) {
  const auto& parameters = engine.parameters();
  UnconstrainedPoint point;
  point.u = u;
  Eigen::VectorXd slope(u.size()), bend(u.size());
  for (Eigen::Index i = 0; i < u.size(); ++i) {
    const Parameter& p = parameters[static_cast<std::size_t>(i)];
    point.theta.push_back(p.natural(u(i)));
    slope(i) = p.slope(u(i));
    bend(i) = curvature(p, u(i));
  }
  const Outcome at = engine.at(point.theta, Order::information, {}, request);
  if (!at) return at.failure();
  point.loglik = at->loglik, point.work = at->work;
  const Eigen::Map<const Eigen::VectorXd> gradient(at->gradient.data(), u.size());
  point.information = Eigen::Map<const Eigen::MatrixXd>(at->information.data(), u.size(), u.size());
  point.gradient = slope.cwiseProduct(gradient);
  point.hessian = -(slope.asDiagonal() * point.information * slope.asDiagonal());
  point.hessian.diagonal() += bend.cwiseProduct(gradient);
  return point;
}
}  // namespace mckean
