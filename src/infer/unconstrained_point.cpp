#include "infer/unconstrained_point.hpp"

#include "model/unconstrained.hpp"

namespace mckean {

Result<UnconstrainedPoint> evaluate_unconstrained(const Engine& engine, const Eigen::VectorXd& u,
                                                  const Request& request) {
  const auto& parameters = engine.parameters();
  UnconstrainedPoint point;
  point.u = u;
  point.theta = natural(parameters, u);
  const Outcome at = engine.at(point.theta, Order::information, {}, request);
  if (!at) return at.failure();
  point.loglik = at->loglik, point.work = at->work;
  point.information = Eigen::Map<const Eigen::MatrixXd>(at->information.data(), u.size(), u.size());
  const ChainRule rule(parameters, u);
  point.gradient = rule.gradient(at->gradient);
  point.hessian = rule.hessian(-point.information, at->gradient);
  return point;
}
}  // namespace mckean
