#include "maximise.hpp"

#include <array>
#include <cmath>

namespace oracle {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Derivatives of h -> f(theta + h direction) at 0, of order 8 in the length of `direction`: 8 evaluations.
struct Slice {
  double slope, curvature;
};

Slice slice(const Function& f, double centre, const VectorXd& theta, const VectorXd& direction) {
  constexpr std::array<double, 4> odd = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  constexpr std::array<double, 4> even = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  Slice result{0, 0};
  for (std::size_t k = 0; k < 4; ++k) {
    const VectorXd shift = static_cast<double>(k + 1) * direction;
    const double up = f(theta + shift) - centre, down = f(theta - shift) - centre;
    result.slope += odd[k] * (up - down);
    result.curvature += even[k] * (up + down);
  }
  return result;
}

struct Expansion {
  VectorXd gradient;
  MatrixXd hessian;
};

// Slices along e_i and, for the mixed derivatives, e_i + e_j.
Expansion expand(const Function& f, double centre, const VectorXd& theta, const VectorXd& steps) {
  const Eigen::Index n = theta.size();
  VectorXd g(n);
  MatrixXd h(n, n);
  const MatrixXd e = steps.asDiagonal();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Slice along = slice(f, centre, theta, e.col(i));
    g(i) = along.slope;
    h(i, i) = along.curvature;
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i + 1; j < n; ++j) {
      const double both = slice(f, centre, theta, e.col(i) + e.col(j)).curvature;
      h(i, j) = h(j, i) = (both - h(i, i) - h(j, j)) / 2;
    }
  }
  const auto unit = steps.cwiseInverse().asDiagonal();
  return {unit * g, unit * h * unit};
}

// Steps of 0.1 in units of the curvature, where there is a maximum along the coordinate.
VectorXd curvature_steps(const MatrixXd& h, VectorXd steps) {
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    if (h(i, i) < 0) steps(i) = std::min(steps(i), 0.1 / std::sqrt(-h(i, i)));
  }
  return steps;
}

// The step |H|^-1 g: Newton's where H is negative definite, uphill everywhere.
VectorXd newton_step(const MatrixXd& h, const VectorXd& g, const VectorXd& steps) {
  const MatrixXd scaled = steps.asDiagonal() * h * steps.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scaled);
  const VectorXd size = eigen.eigenvalues().cwiseAbs().cwiseMax(1e-10);
  const MatrixXd& v = eigen.eigenvectors();
  const VectorXd slope = v.transpose() * steps.asDiagonal() * g;
  return steps.asDiagonal() * (v * slope.cwiseQuotient(size));
}

}  // namespace

VectorXd default_steps(const VectorXd& theta) { return 1e-2 * theta.cwiseAbs().cwiseMax(0.1); }

VectorXd gradient(const Function& f, const VectorXd& theta, const VectorXd& steps) {
  VectorXd g(theta.size());
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    g(i) = slice(f, 0, theta, steps(i) * VectorXd::Unit(theta.size(), i)).slope / steps(i);
  }
  return g;
}

VectorXd gradient(const Function& f, const VectorXd& theta) { return gradient(f, theta, default_steps(theta)); }

MatrixXd hessian(const Function& f, const VectorXd& theta, const VectorXd& steps) {
  return expand(f, f(theta), theta, steps).hessian;
}

MatrixXd hessian(const Function& f, const VectorXd& theta) { return hessian(f, theta, default_steps(theta)); }

Maximum maximise(const Function& f, VectorXd theta, int max_iterations) {
  Maximum best;
  VectorXd steps = default_steps(theta);
  double value = f(theta);
  for (; best.iterations < max_iterations && !best.converged; ++best.iterations) {
    const auto [g, h] = expand(f, value, theta, steps);
    steps = curvature_steps(h, default_steps(theta));
    VectorXd step = newton_step(h, g, steps);
    best.converged = step.cwiseQuotient(steps).cwiseAbs().maxCoeff() < 1e-4;

    double next = f(theta + step);
    // Differences of values end at rounding; a converged step is taken as it is.
    for (int halving = 0; !best.converged && !(next > value - 1e-9) && halving < 40; ++halving) {
      step /= 2;
      next = f(theta + step);
    }
    theta += step;
    value = next;
    best.information = -h;
  }
  best.theta = theta;
  best.value = value;
  best.standard_error = best.information.inverse().diagonal().cwiseSqrt();
  return best;
}

}  // namespace oracle
