#include "infer/search/population.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr std::size_t kParents = kPopulation / 2;
constexpr double kWidest = 2;  // in units of the start values
}  // namespace

Population::Population(VectorXd mean, double width, const MatrixXd& shape, std::uint64_t seed)
    : mean_(std::move(mean)),
      width_(width),
      shape_(shape.size() > 0 ? shape : MatrixXd::Identity(mean_.size(), mean_.size())),
      step_path_(VectorXd::Zero(mean_.size())),
      shape_path_(step_path_),
      draws_(seed) {
  for (std::size_t i = 0; i < kParents; ++i)
    weights_.push_back(std::log(kParents + 0.5) - std::log(static_cast<double>(i) + 1));
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  double squares = 0;
  for (double& w : weights_) w /= sum, squares += w * w;
  parents_ = 1 / squares;
  take_roots();
}

std::vector<VectorXd> Population::ask() {
  std::vector<VectorXd> points;
  for (std::size_t i = 0; i < kPopulation; ++i) points.push_back(mean_ + width_ * (root_ * draws_.next(mean_.size())));
  return points;
}

void Population::tell(std::span<const VectorXd> points, std::span<const double> values) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  const auto n = static_cast<double>(mean_.size());
  const double path_rate = (parents_ + 2) / (n + parents_ + 5),
               shape_path_rate = (4 + parents_ / n) / (n + 4 + 2 * parents_ / n);
  const double one = 2 / ((n + 1.3) * (n + 1.3) + parents_);
  const double many = std::min(1 - one, 2 * (parents_ - 2 + 1 / parents_) / ((n + 2) * (n + 2) + parents_));
  const double damping = 1 + path_rate + 2 * std::max(0.0, std::sqrt((parents_ - 1) / (n + 1)) - 1);
  const double usual = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));  // E |N(0, I)|

  VectorXd step = VectorXd::Zero(mean_.size());
  MatrixXd spread = MatrixXd::Zero(mean_.size(), mean_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const VectorXd y = (points[order[i]] - mean_) / width_;
    step += weights_[i] * y;
    spread += weights_[i] * y * y.transpose();
  }
  mean_ += width_ * step;
  ++generation_;
  step_path_ =
      (1 - path_rate) * step_path_ + std::sqrt(path_rate * (2 - path_rate) * parents_) * (inverse_root_ * step);
  const double length = step_path_.norm() / std::sqrt(1 - std::pow(1 - path_rate, 2 * generation_));
  const double steady = length < (1.4 + 2 / (n + 1)) * usual ? 1 : 0;
  shape_path_ = (1 - shape_path_rate) * shape_path_ +
                steady * std::sqrt(shape_path_rate * (2 - shape_path_rate) * parents_) * step;
  shape_ = (1 - one - many) * shape_ + one * shape_path_ * shape_path_.transpose() + many * spread;
  width_ = std::min(kWidest, width_ * std::exp(path_rate / damping * (step_path_.norm() / usual - 1)));
  take_roots();
}

void Population::take_roots() {
  const Spectrum s = spectrum(shape_);
  const VectorXd roots = s.values.cwiseMax(1e-20).cwiseSqrt();
  root_ = s.vectors * roots.asDiagonal() * s.vectors.transpose();
  inverse_root_ = s.vectors * roots.cwiseInverse().asDiagonal() * s.vectors.transpose();
}
}  // namespace mckean::search
