#include "estimate/information.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {
namespace {

Eigen::VectorXd as_vector(const std::vector<double>& v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

Eigen::MatrixXd as_matrix(const std::vector<double>& m, Eigen::Index n) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(m.data(), n, n);
}

// −∂H/∂θ, symmetric up to the law's randomness.
Eigen::MatrixXd curvature_of(Chain& chain, const Model& model, const std::vector<double>& theta) {
  const auto n = static_cast<Eigen::Index>(theta.size());
  Eigen::MatrixXd c(n, n);
  for (std::size_t q = 0; q < theta.size(); ++q) {
    const Parameter& p = model.parameters()[q];
    const double room = std::min(theta[q] - p.lower, p.upper - theta[q]);
    const double h = std::min(1e-4 * std::max(1.0, std::abs(theta[q])), 0.1 * room);
    std::vector<double> up = theta, down = theta;
    up[q] += h, down[q] -= h;
    c.col(static_cast<Eigen::Index>(q)) =
        (as_vector(chain.score_at(down).gradient) - as_vector(chain.score_at(up).gradient)) / (2 * h);
  }
  return 0.5 * (c + c.transpose());
}
}  // namespace

HeldMoments hold(const Problem& problem, const ChainOptions& options, ChainIdentity id, const HoldOptions& held) {
  Chain chain(problem, options, id);
  const auto n = static_cast<Eigen::Index>(options.start.size());
  HeldMoments out{Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Zero(n, n),
                  Eigen::MatrixXd::Zero(n, n)};
  const double share = 1 / static_cast<double>(held.iterations);
  for (std::size_t i = 0; i < held.burn_in + held.iterations; ++i) {
    const PathScore& s = chain.advance(true);
    if (i < held.burn_in) continue;
    const Eigen::VectorXd h = as_vector(s.gradient);
    out.score += share * h;
    out.squares += share * h * h.transpose();
    out.complete += share * as_matrix(s.information, n);
    if (held.curvature) out.curvature += share * curvature_of(chain, problem.model(), options.start);
  }
  out.particle_steps = chain.particle_steps();
  return out;
}

HeldMoments average(std::span<const HeldMoments> all) {
  HeldMoments out = all[0];
  for (const HeldMoments& m : all.subspan(1)) {
    out.score += m.score, out.squares += m.squares, out.complete += m.complete, out.curvature += m.curvature;
    out.particle_steps += m.particle_steps;
  }
  const double share = 1 / static_cast<double>(all.size());
  out.score *= share, out.squares *= share, out.complete *= share, out.curvature *= share;
  return out;
}

Eigen::MatrixXd observed_information(const HeldMoments& m) {
  return m.curvature - (m.squares - m.score * m.score.transpose());
}

Eigen::MatrixXd on_line(const Model& model, std::span<const double> theta, const Eigen::MatrixXd& information) {
  Eigen::VectorXd slopes(information.rows());
  for (Eigen::Index p = 0; p < slopes.size(); ++p) {
    const Parameter& parameter = model.parameters()[static_cast<std::size_t>(p)];
    slopes[p] = parameter.slope(parameter.to_line(theta[static_cast<std::size_t>(p)]));
  }
  return slopes.asDiagonal() * information * slopes.asDiagonal();
}

std::optional<Eigen::MatrixXd> inverse_if_positive(const Eigen::MatrixXd& m) {
  const Eigen::VectorXd diagonal = m.diagonal();
  if (!m.allFinite() || diagonal.minCoeff() <= 0) return std::nullopt;
  const Eigen::VectorXd scale = diagonal.cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scale.asDiagonal() * m * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  if (eigen.eigenvalues().minCoeff() < 1e-8) return std::nullopt;
  return scale.asDiagonal() * scaled.inverse() * scale.asDiagonal();
}
}  // namespace mckean
