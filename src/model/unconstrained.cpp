#include "model/unconstrained.hpp"

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

Eigen::VectorXd slopes(std::span<const Parameter> parameters, const Eigen::VectorXd& u) {
  Eigen::VectorXd s(u.size());
  for (Eigen::Index p = 0; p < u.size(); ++p) s[p] = parameters[static_cast<std::size_t>(p)].slope(u[p]);
  return s;
}
}  // namespace mckean
