#include "model/unconstrained.hpp"

#include <cmath>

namespace mckean {

Eigen::VectorXd unconstrained(std::span<const Parameter> parameters, std::span<const double> theta) {
  Eigen::VectorXd u(static_cast<Eigen::Index>(theta.size()));
  for (std::size_t p = 0; p < theta.size(); ++p)
    u[static_cast<Eigen::Index>(p)] = parameters[p].unconstrained(theta[p]);
  return u;
}

std::vector<double> natural(std::span<const Parameter> parameters, const Eigen::VectorXd& u) {
  std::vector<double> theta;
  for (const Parameter& p : parameters) theta.push_back(p.natural(u[static_cast<Eigen::Index>(theta.size())]));
  return theta;
}

std::vector<double> through_unconstrained(std::span<const Parameter> parameters, std::span<const double> theta) {
  return natural(parameters, unconstrained(parameters, theta));
}

Eigen::VectorXd slopes(std::span<const Parameter> parameters, const Eigen::VectorXd& u) {
  Eigen::VectorXd s(u.size());
  for (Eigen::Index p = 0; p < u.size(); ++p) s[p] = parameters[static_cast<std::size_t>(p)].slope(u[p]);
  return s;
}

namespace {

// d²θ/du².
double curvature(const Parameter& p, double u) {
  const bool below = std::isfinite(p.lower), above = std::isfinite(p.upper);
  if (below && above) return -p.slope(u) * std::tanh(u / 2);
  return below || above ? p.slope(u) : 0;
}

Eigen::Map<const Eigen::VectorXd> as_vector(std::span<const double> v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
}  // namespace

ChainRule::ChainRule(std::span<const Parameter> parameters, const Eigen::VectorXd& u)
    : slope_(slopes(parameters, u)), bend_(u.size()) {
  for (Eigen::Index p = 0; p < u.size(); ++p) bend_[p] = curvature(parameters[static_cast<std::size_t>(p)], u[p]);
}

ChainRule::ChainRule(std::span<const Parameter> parameters, const Eigen::VectorXd& u, const std::vector<bool>& free)
    : ChainRule(parameters, u) {
  for (std::size_t p = 0; p < free.size(); ++p)
    if (!free[p]) slope_[static_cast<Eigen::Index>(p)] = bend_[static_cast<Eigen::Index>(p)] = 0;
}

Eigen::VectorXd ChainRule::gradient(std::span<const double> g) const { return slope_.cwiseProduct(as_vector(g)); }

Eigen::MatrixXd ChainRule::information(const Eigen::MatrixXd& m) const {
  return slope_.asDiagonal() * m * slope_.asDiagonal();
}

Eigen::MatrixXd ChainRule::hessian(const Eigen::MatrixXd& h, std::span<const double> g) const {
  Eigen::MatrixXd out = information(h);
  out.diagonal() += bend_.cwiseProduct(as_vector(g));
  return out;
}
}  // namespace mckean
