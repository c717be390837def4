// A population of points that moves uphill: CMA-ES (Hansen 2016, "The CMA evolution strategy: a tutorial") with equal
// treatment of all that failed. It knows values by their ranks alone, so noise and huge differences do no harm.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "infer/search/normal_draws.hpp"

namespace mckean::search {

inline constexpr std::size_t kPopulation = 12;

class Population {
 public:
  // The first generation has the covariance width²·shape; an empty shape is the identity.
  Population(Eigen::VectorXd mean, double width, const Eigen::MatrixXd& shape, std::uint64_t seed);

  std::vector<Eigen::VectorXd> ask();
  // The values of the points that were asked for, higher is better; −∞ where there is none.
  void tell(std::span<const Eigen::VectorXd> points, std::span<const double> values);

  const Eigen::VectorXd& mean() const { return mean_; }
  Eigen::MatrixXd covariance() const { return width_ * width_ * shape_; }
  void widen(double factor) { width_ *= factor; }

 private:
  void take_roots();

  Eigen::VectorXd mean_;
  double width_;
  Eigen::MatrixXd shape_, root_, inverse_root_;  // C, C^½, C^−½
  Eigen::VectorXd step_path_, shape_path_;
  std::vector<double> weights_;  // of the better half, by rank
  double parents_;               // their effective number
  int generation_ = 0;
  NormalDraws draws_;
};
}  // namespace mckean::search
