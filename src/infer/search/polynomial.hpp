// A polynomial through noisy values around a point, by weighted least squares:
//   f(u) = a + b·u + ½ uᵀH u (+ cubic terms).
// The cubic terms keep a skewed likelihood from shifting the slope at the centre: without them the maximum of a
// parabola through a region of s standard errors is off by half the third derivative times s².
//
// Samples may come from several functions that differ little, such as two Euler levels. Those of the first group have
// the polynomial itself, each other group the polynomial plus a linear function of its own: so what is known of the
// shape is shared, while the position of the maximum is that of the first group alone.
//
// The values are logarithms of unbiased estimates, so their mean is too low by about half their variance. Where that
// changes with u it moves the maximum: half of what is known of the change from what is left over is added.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "infer/search/box.hpp"

namespace mckean::search {

// An ellipsoid: z = centre + directions·(widths∘u), with orthonormal directions; fewer than variables where some are
// left out because the likelihood is flat along them.
struct Region {
  // By the largest principal axes of the covariance, as many as wanted.
  static Region of(Eigen::VectorXd centre, const Eigen::MatrixXd& covariance, Eigen::Index axes);

  Eigen::VectorXd at(const Eigen::VectorXd& u) const { return centre + directions * widths.cwiseProduct(u); }
  Eigen::VectorXd from(const Eigen::VectorXd& z) const {
    return (directions.transpose() * (z - centre)).cwiseQuotient(widths);
  }
  Eigen::MatrixXd factor() const { return directions * widths.asDiagonal(); }
  Eigen::MatrixXd inverse() const { return widths.cwiseInverse().asDiagonal() * directions.transpose(); }

  Eigen::VectorXd centre, widths;
  Eigen::MatrixXd directions;
};

struct Sample {
  Eigen::VectorXd z;
  double value;
  double variance;  // relative to that of the other samples
  std::size_t group = 0;
};

class Polynomial {
 public:
  // The number of terms of a polynomial in n variables.
  static std::size_t terms(Eigen::Index n, int degree);
  // None where the samples do not determine it.
  static std::optional<Polynomial> through(std::span<const Sample>, const Region&, int degree);
  // Covariance of the coefficients of the first group that so many samples of variance 1 leave; large where they leave
  // them undetermined.
  static Eigen::MatrixXd uncertainty(std::span<const Sample>, const Region&, int degree);
  static Eigen::VectorXd row(const Eigen::VectorXd& u, int degree);  // what each coefficient counts at u

  double value(const Eigen::VectorXd& u) const;
  Eigen::VectorXd gradient(const Eigen::VectorXd& u) const;
  Eigen::MatrixXd hessian(const Eigen::VectorXd& u) const;

  // The variance of a sample with relative variance 1, from what is left over.
  double noise() const { return noise_; }
  double value_error(const Eigen::VectorXd& u) const;
  // Covariance of the gradient at u.
  Eigen::MatrixXd gradient_error(const Eigen::VectorXd& u) const;
  // Standard error of the second derivative along a direction at the centre.
  double curvature_error(const Eigen::VectorXd& direction) const;

  // The gradient of what another group has beyond the first, and its covariance.
  Eigen::VectorXd offset_gradient(std::size_t group) const;
  Eigen::MatrixXd offset_error(std::size_t group) const;

 private:
  using Term = std::array<int, 3>;  // indices of the variables, −1 for none
  static std::vector<Term> all_terms(Eigen::Index n, int degree);
  Eigen::Index offset(std::size_t group) const;  // of its coefficients
  static double monomial(const Term&, const Eigen::VectorXd& u);
  Eigen::MatrixXd design(std::span<const Sample>, const Region&) const;  // a row a sample, by its weight
  void add_half_the_noise(const Eigen::MatrixXd& points, const Eigen::VectorXd& squares);

  std::vector<Term> terms_;
  Eigen::Index variables_ = 0;
  Eigen::VectorXd coefficients_;  // of the terms, then a constant and a gradient for each further group
  Eigen::MatrixXd covariance_;
  double noise_ = 0;
};
}  // namespace mckean::search
