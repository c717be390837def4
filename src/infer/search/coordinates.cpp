// Coordinates in which the likelihood near the top is closer to a parabola: some ridges are straight on logarithmic
// scales alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/search/rounds.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr double kBends[] = {std::numeric_limits<double>::infinity(), 1, 0.25};  // c, in units of the top's distance
constexpr double kClearly = 10;  // twice the logarithm by which the samples must be more likely

VectorXd converted(const VectorXd& z, const Box& from, const Box& to) { return to.from(from.theta(z)); }

Region converted(const Region& r, const Box& from, const Box& to) {
  VectorXd centre = converted(r.centre, from, to);
  const MatrixXd root = from.slopes(r.centre).cwiseQuotient(to.slopes(centre)).asDiagonal() * r.factor();
  return Region::of(std::move(centre), root * root.transpose(), r.widths.size());
}

// How badly a parabola fits: the variance of what is left over; none where it is not determined.
std::optional<double> misfit(std::vector<Sample> samples, const Region& region, const Box& from, const Box& to) {
  for (Sample& s : samples) s.z = converted(s.z, from, to);
  const auto f = Polynomial::through(samples, converted(region, from, to), 2);
  return f ? std::optional(f->noise()) : std::nullopt;
}
}  // namespace

// From all natural ones parameter by parameter, and from all bent ones: what is best.
std::optional<Box> Rounds::straighter() const {
  std::vector<Sample> samples = usable();
  std::erase_if(samples, [](const Sample& s) { return s.group != 0; });
  if (samples.size() < 2 * Polynomial::terms(region_.widths.size(), 2) + 8) return {};
  const double top = std::ranges::max_element(samples, {}, &Sample::value)->value;
  for (Sample& s : samples) s.variance = 1 + top - s.value;
  const auto now = misfit(samples, region_, box_, box_);
  if (!now || *now <= 0) return {};
  std::optional<Box> best;
  double least = *now * std::exp(-kClearly / static_cast<double>(samples.size()));
  const auto consider = [&](const Box& box) {
    const auto left = misfit(samples, region_, box_, box);
    if (!left || *left >= least) return;
    least = *left * std::exp(-kClearly / static_cast<double>(samples.size()));
    best = box;
  };
  const auto bend = [&](Box& box, Index i, double share) {
    const double distance = box_.natural(i, region_.centre[i]) / box_.scale[i] - box_.lower[i];
    if (box.bends(i) && distance > 0) box.bend[i] = share * distance;
  };
  Box all = box_;
  for (Index i = 0; i < all.size(); ++i) bend(all, i, kBends[2]);
  consider(all);
  const Box from = best.value_or(box_);
  for (Index i = 0; i < from.size(); ++i)
    for (const double share : kBends) {
      Box one = best.value_or(from);
      bend(one, i, share);
      if (one.bend[i] != best.value_or(from).bend[i]) consider(one);
    }
  return best;
}

// To be called when the box has others than before.
void Rounds::convert(const Box& before) {
  for (Taken& t : taken_) t.z = converted(t.z, before, box_);
  for (VectorXd& d : flat_)
    d = before.slopes(region_.centre)
            .cwiseProduct(d)
            .cwiseQuotient(box_.slopes(converted(region_.centre, before, box_)))
            .normalized();
  first_ = converted(first_, before, box_);
  region_ = converted(region_, before, box_);
  tried_samples_.clear();
  fit_.reset();
  at_top_ = steady_ = false;
}
}  // namespace mckean::search
