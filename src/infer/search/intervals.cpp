#include "infer/search/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr double kNormal95 = 1.959963984540054;
constexpr double kTwoSided = kNormal95 * kNormal95 / 2;  // fall of the log-likelihood: half a quantile of chi-square
constexpr double kOneSided = 2.705543454095404 / 2;
constexpr double kPartOfFlat = 0.05;             // of a flat direction's largest component
constexpr double kSmallest = 0.7, kLargest = 3;  // times the half-width that a standard error may suggest
constexpr double kNearGuess = 2;   // times the parabola's distance, and its inverse, within which a cubic's may lie
constexpr double kFarthest = 3.5;  // in u
constexpr double kKnown = 0.6;     // error of a polynomial's value up to which it tells of an end
constexpr int kMostSteps = 12;
constexpr double kAtEnd = 0.01;  // of the fall

// The end of a parameter that a bound holds: its profile log-likelihood is g v + ½ c v² at a distance v, with the slope
// g at the bound, and c the curvature when the other parameters follow.
End from_bound(const Fit& fit, Index i) {
  const int sign = -fit.top.bound[static_cast<std::size_t>(i)];
  const MatrixXd inverse = fit.region.inverse();
  const VectorXd gradient = inverse.transpose() * fit.f.gradient(fit.top.u);
  const MatrixXd hessian = inverse.transpose() * fit.f.hessian(fit.top.u) * inverse;
  const VectorXd followed = fit.covariance * hessian.col(i);  // by those that no bound holds
  const double slope = std::abs(gradient[i]), curvature = -hessian(i, i) - hessian.col(i).dot(followed);
  const double distance = curvature <= 1e-9 * slope * slope
                              ? kOneSided / slope
                              : (std::sqrt(slope * slope + 2 * curvature * kOneSided) - slope) / curvature;
  return {i, sign, kOneSided, distance, true, sign * followed};
}

// An end of a parameter that no bound holds, by the curvature at the top alone.
End by_curvature(const Fit& fit, Index i, int sign) {
  const double variance = fit.covariance(i, i);
  return {i, sign, kTwoSided, kNormal95 * std::sqrt(variance), true, sign * fit.covariance.col(i) / variance};
}

// The same with the polynomial's third derivatives: where its own profile has fallen as much, if that is known there.
std::optional<End> by_polynomial(const Fit& fit, const Box& box, const End& parabola) {
  End out = parabola;
  double inner = 0, inner_root = 0;  // √fall is nearly linear in the distance
  for (int step = 0; step < kMostSteps; ++step) {
    const VectorXd z = box.inside(fit.top.z + out.guess * out.ridge);
    TopOptions options{.most = kFarthest, .held = out.parameter, .from = fit.region.from(z)};
    const Top there = top_of(fit.f, fit.region, box, options);
    const double fall = fit.top.value - there.value;
    if (!there.interior || fall <= 0) return {};
    const double distance = std::abs(there.z[out.parameter] - fit.top.z[out.parameter]);
    out.ridge = (there.z - fit.top.z) / distance;
    if (std::abs(fall - out.fall) < kAtEnd * out.fall) {
      out.guess = distance;
      return fit.f.value_error(there.u) < kKnown ? std::optional(out) : std::nullopt;
    }
    const double slope = (std::sqrt(fall) - inner_root) / (distance - inner);
    if (!(slope > 0)) return {};
    out.guess = distance + (std::sqrt(out.fall) - std::sqrt(fall)) / slope;
    if (out.guess > kNearGuess * parabola.guess || out.guess < parabola.guess / kNearGuess) return {};
    inner = distance, inner_root = std::sqrt(fall);
  }
  return {};
}

bool part_of(const VectorXd& flat, Index i) { return std::abs(flat[i]) > kPartOfFlat * flat.cwiseAbs().maxCoeff(); }

// Whether a flat direction is that of this parameter alone.
bool alone(const VectorXd& flat, Index i) {
  for (Index j = 0; j < flat.size(); ++j)
    if (j != i && part_of(flat, j)) return false;
  return part_of(flat, i);
}
}  // namespace

std::vector<End> guessed_ends(const Fit& fit, const Box& box, std::span<const VectorXd> flat) {
  std::vector<End> out;
  for (Index i = 0; i < box.size(); ++i) {
    const int bound = fit.top.bound[static_cast<std::size_t>(i)];
    const auto moves = [&](const VectorXd& d) { return part_of(d, i); };
    if (std::ranges::any_of(flat, moves)) {
      const double scale = std::max(1.0, std::abs(fit.top.z[i]));
      if (flat.size() == 1 && alone(flat[0], i))
        for (const int sign : {-1, 1}) out.push_back({i, sign, kTwoSided, scale, false, VectorXd::Zero(box.size())});
    } else if (bound != 0) {
      out.push_back(from_bound(fit, i));
    } else {
      for (const int sign : {-1, 1}) {
        const End parabola = by_curvature(fit, i, sign);
        out.push_back(flat.empty() ? by_polynomial(fit, box, parabola).value_or(parabola) : parabola);
      }
    }
  }
  return out;
}

std::vector<Interval> intervals(const Fit& fit, const Box& box, std::span<const End> ends,
                                std::span<const std::optional<double>> distances) {
  std::vector<Interval> out(static_cast<std::size_t>(box.size()));
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const Index i = ends[k].parameter;
    Interval& s = out[static_cast<std::size_t>(i)];
    const int bound = fit.top.bound[static_cast<std::size_t>(i)];
    if (bound != 0) {
      s.at_bound = bound < 0 ? AtBound::lower : AtBound::upper;
      (bound < 0 ? s.lower : s.upper) = box.scale[i] * (bound < 0 ? box.lower[i] : box.upper[i]);
    }
    if (!distances[k]) continue;
    const double at = fit.top.z[i] + ends[k].sign * *distances[k];
    (ends[k].sign < 0 ? s.lower : s.upper) = box.natural(i, std::clamp(at, box.lower[i], box.upper[i]));
  }
  for (const End& e : ends) {
    Interval& s = out[static_cast<std::size_t>(e.parameter)];
    if (!s.lower || !s.upper || s.at_bound != AtBound::none) continue;
    const double low = box.lower[e.parameter] * box.scale[e.parameter],
                 high = box.upper[e.parameter] * box.scale[e.parameter];
    if (!e.trusted && *s.lower <= low && *s.upper >= high) continue;  // its bounds, not its likelihood, end it
    const double plain =
        box.slope(e.parameter, fit.top.z[e.parameter]) * std::sqrt(fit.covariance(e.parameter, e.parameter));
    const double half = (*s.upper - *s.lower) / (2 * kNormal95);
    s.std_error = e.trusted && plain > kSmallest * half && plain < kLargest * half ? plain : half;
  }
  return out;
}

Finding undetermined(const std::string& name, const Interval& i) {
  const char* side = !i.lower && !i.upper ? "on either side" : i.lower ? "from above" : "from below";
  return {Finding::Code::not_determined, {{"parameter", name}, {"side", side}}};
}

Finding found_at_bound(const std::string& name, double bound, bool lower, std::optional<double> end) {
  Finding out{Finding::Code::at_bound, {{"parameter", name}, {"bound", bound}}};
  if (end) out.data.emplace_back("side", lower ? "below" : "above"), out.data.emplace_back("end", *end);
  return out;
}
}  // namespace mckean::search
