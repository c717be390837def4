#include "model/symmetric.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace mckean {

using Eigen::MatrixXd, Eigen::VectorXd;

Spectrum spectrum(const MatrixXd& m) {
  if (m.size() == 0) return {VectorXd(0), MatrixXd(0, 0)};
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(m);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

namespace {

MatrixXd inverse(const VectorXd& scale, const Spectrum& scaled, double least) {
  VectorXd inverse = scaled.values;
  for (double& v : inverse) v = v > least ? 1 / v : 0;
  const MatrixXd vectors = scale.asDiagonal() * scaled.vectors;
  return vectors * inverse.asDiagonal() * vectors.transpose();
}
}  // namespace

MatrixXd pseudo_inverse(const MatrixXd& m, double least) {
  VectorXd scale = m.diagonal();
  for (double& d : scale) d = d > 0 ? 1 / std::sqrt(d) : 0;
  return inverse(scale, spectrum(scale.asDiagonal() * m * scale.asDiagonal()), least);
}

std::optional<MatrixXd> inverse_if_positive(const MatrixXd& m, double least) {
  if (!m.allFinite() || m.diagonal().minCoeff() <= 0) return std::nullopt;
  const VectorXd scale = m.diagonal().cwiseSqrt().cwiseInverse();
  const Spectrum scaled = spectrum(scale.asDiagonal() * m * scale.asDiagonal());
  if (scaled.values.minCoeff() < least) return std::nullopt;
  return inverse(scale, scaled, least);
}
}  // namespace mckean
