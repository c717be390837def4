#include "estimate/line.hpp"

#include <Eigen/Dense>

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

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& m, double least) {
  Eigen::VectorXd scale = m.diagonal();
  for (double& d : scale) d = d > 0 ? 1 / std::sqrt(d) : 0;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scale.asDiagonal() * m * scale.asDiagonal());
  Eigen::VectorXd inverse = eigen.eigenvalues();
  for (double& v : inverse) v = v > least ? 1 / v : 0;
  const Eigen::MatrixXd vectors = scale.asDiagonal() * eigen.eigenvectors();
  return vectors * inverse.asDiagonal() * vectors.transpose();
}
}  // namespace mckean
