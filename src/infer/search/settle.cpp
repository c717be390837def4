// The first of the rounds: until the region is about as wide as the likelihood, and the top lies within.
#include <algorithm>
#include <cmath>

#include "infer/search/rounds.hpp"
#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr int kMostSettling = 14;
constexpr double kSettlingWidth = 1.2;
constexpr double kFarthest = 2.5;                       // a step in u
constexpr double kWidest = 30;                          // of a region, in units of the start values or of where it is
constexpr double kGrowth = 2.5;                         // along a direction that shows no curvature yet
constexpr double kLevelShare = 0.7, kSteepShare = 0.4;  // of a round's samples that are near the top
}  // namespace

// Of the best twentieth: a high value of one noisy sample is no top.
double Rounds::height(std::vector<double> values) {
  const auto best = std::max<std::size_t>(3, values.size() / 20);
  std::ranges::sort(values, std::greater());
  values.resize(std::min(best, values.size()));
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// Of the current effort, within the region and not far below the best; `share`: of the last `count` that were taken.
std::vector<Sample> Rounds::near(std::size_t count, double& share) const {
  std::vector<double> values;
  for (const Taken& t : taken_)
    if (t.effort + 1 == efforts_.size()) values.push_back(t.value);
  std::vector<Sample> out;
  if (values.empty()) return out;
  const double top = height(values);
  std::size_t last = 0;
  for (std::size_t i = taken_.size() - std::min(count, taken_.size()); i < taken_.size(); ++i)
    if (taken_[i].value > top - depth()) ++last;
  share = static_cast<double>(last) / static_cast<double>(count);
  for (const Taken& t : taken_)
    if (t.effort + 1 == efforts_.size() && region_.from(t.z).norm() < 2 * kTrusted && t.value > top - depth())
      out.push_back({t.z, t.value, 1 + std::max(0.0, top - t.value)});
  return out;
}

// What the polynomial has along the principal axes of its curvature, and how well that is known.
std::vector<Rounds::Axis> Rounds::axes_of(const Polynomial& f) const {
  const VectorXd zero = VectorXd::Zero(region_.widths.size()), gradient = f.gradient(zero);
  const MatrixXd error = f.gradient_error(zero);
  const Spectrum s = spectrum(-f.hessian(zero));
  std::vector<Axis> out;
  for (Index i = 0; i < zero.size(); ++i) {
    const VectorXd v = s.vectors.col(i);
    out.push_back({v, s.values[i], f.curvature_error(v), gradient.dot(v), std::sqrt(std::max(0.0, v.dot(error * v)))});
  }
  return out;
}

// Whether the region reaches as far along an axis as makes sense.
bool Rounds::wide(const Axis& axis) const {
  const VectorXd along = region_.factor() * axis.direction;
  for (Index p = 0; p < along.size(); ++p) {
    const double reach = box_.bent(p, kWidest * std::max(1.0, std::abs(first_[p])));
    const double room = std::min(reach, (box_.upper[p] - box_.lower[p]) / 2);
    if (std::abs(along[p]) * kGrowth > room || std::abs(region_.centre[p]) > 2 * room) return true;
  }
  return false;
}

// The region as wide as the curvature says, as far as that is known; true where it was about right before. Where it is
// `level`, no sample lies far below the others, and an axis that shows neither slope nor curvature is longer than was
// sampled: it grows, and is left out where it is as long as makes sense.
bool Rounds::reshape(std::span<const Axis> axes, bool level) {
  bool right = true;
  const double growth = 1 + (kGrowth - 1) / (1 + 3 * steep_);  // less where it went too far before
  MatrixXd root(box_.size(), static_cast<Index>(axes.size()));
  Index kept = 0;
  std::vector<VectorXd> lost;
  for (const Axis& axis : axes) {
    double factor = axis.sloped() ? 1 + (growth - 1) / 2 : level ? growth : 1;
    if (axis.curved()) factor = 1 / std::sqrt(std::clamp(axis.curvature, 1 / (kGrowth * kGrowth), 25.0));
    right = right && axis.curved() && axis.curvature > 0.35 && axis.curvature < 3;
    const VectorXd along = region_.factor() * axis.direction;
    if (!axis.curved() && level && wide(axis) && lost.size() + 1 < axes.size())
      lost.push_back(along.normalized());
    else
      root.col(kept++) = factor * along;
  }
  flat_.insert(flat_.end(), lost.begin(), lost.end());
  MatrixXd rest = root.leftCols(kept);
  for (const VectorXd& d : flat_) rest -= d * (d.transpose() * rest);  // across the flat directions, not along them
  region_ = Region::of(region_.centre, rest * rest.transpose(), kept);
  return right && lost.empty();
}

// The step to the top, but not along axes of which nothing is known.
VectorXd Rounds::step(const Top& top, std::span<const Axis> axes) const {
  VectorXd u = top.u;
  for (const Axis& axis : axes)
    if (!axis.curved() && !axis.sloped()) u -= axis.direction.dot(u) * axis.direction;
  return u;
}

bool Rounds::settle() {
  const int end = round_ + kMostSettling;
  width_ = kSettlingWidth;
  while (round_ < end) {
    const std::size_t terms = Polynomial::terms(region_.widths.size(), 2);
    central_ = exploded_ = 0;  // the centre moves
    const std::size_t count = take("round", design(2 * terms + 10, width_)).size();
    double share = 0;
    const auto samples = near(count, share);
    if (samples.empty()) return false;
    const auto best = std::ranges::max_element(samples, {}, &Sample::value);
    evaluate_.tell(options_.name, box_.theta(best->z), best->value);
    const auto f = samples.size() >= terms + 8 ? Polynomial::through(samples, region_, 2) : std::nullopt;
    if (!f) {
      region_.centre = best->z;
      region_.widths *= 0.4;
      continue;
    }
    const Top top = top_of(*f, region_, box_, {.most = kFarthest});
    const auto axes = axes_of(*f);
    const VectorXd u = step(top, axes);
    region_.centre = box_.inside(region_.at(u));
    const bool within = u.norm() < 1, right = reshape(axes, share > kLevelShare);
    if (share < kSteepShare) region_.widths *= 0.6, ++steep_;
    noise_ = std::sqrt(f->noise());
    if (right && within) return true;
  }
  return false;
}
}  // namespace mckean::search
