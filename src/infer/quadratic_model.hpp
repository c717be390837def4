// The log-likelihood near a point as a parabola, and the step to its highest point within a box.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "model/symmetric.hpp"

namespace mckean {

inline constexpr double kFlat = 1e-9;  // eigenvalues of the scaled information below this share of the largest are 0

// By how much a step may move each parameter.
struct StepBox {
  Eigen::VectorXd lower, upper;
};

// ℓ(θ + s) ≈ ℓ + g·s − sᵀAs/2. Where the information is not positive definite its eigenvalues, scaled to a diagonal of
// ±1, are replaced by their absolute values, so that every step climbs; along directions in which the likelihood does
// not change nothing is gained.
class QuadraticModel {
 public:
  QuadraticModel(Eigen::VectorXd gradient, const Eigen::MatrixXd& information);

  // The best step in the box, by an active set.
  Eigen::VectorXd step(const StepBox&) const;
  double gain(const Eigen::VectorXd& step) const;

 private:
  Eigen::VectorXd gradient_;
  Eigen::MatrixXd curvature_;  // A
};

// The information about those parameters that are free.
class Curvature {
 public:
  Curvature(const Eigen::MatrixXd& information, const std::vector<Eigen::Index>& free);

  bool concave() const;   // the likelihood falls in every direction
  bool singular() const;  // not concave, but it grows in none
  // The direction in which the likelihood falls least, in θ; 0 for those that are not free.
  Eigen::VectorXd weakest() const;

 private:
  std::vector<Eigen::Index> free_;
  Eigen::VectorXd scale_;
  Spectrum spectrum_;
  Eigen::Index size_;
};
}  // namespace mckean
