#include "model/line.hpp"

namespace mckean {

Eigen::VectorXd to_line(const Model& model, std::span<const double> theta) {
  Eigen::VectorXd u(static_cast<Eigen::Index>(theta.size()));
  for (std::size_t p = 0; p < theta.size(); ++p)
    u[static_cast<Eigen::Index>(p)] = model.parameters()[p].to_line(theta[p]);
  return u;
}

std::vector<double> from_line(const Model& model, const Eigen::VectorXd& u) {
  std::vector<double> theta;
  for (const Parameter& p : model.parameters())
    theta.push_back(p.from_line(u[static_cast<Eigen::Index>(theta.size())]));
  return theta;
}

Eigen::VectorXd slopes(const Model& model, const Eigen::VectorXd& u) {
  Eigen::VectorXd s(u.size());
  for (Eigen::Index p = 0; p < u.size(); ++p) s[p] = model.parameters()[static_cast<std::size_t>(p)].slope(u[p]);
  return s;
}
}  // namespace mckean
