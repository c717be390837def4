#include "search/intervals.hpp"

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr double kNormal95 = 1.959963984540054;
constexpr double kOneSided = 2.705543454095404 / 2;  // fall of the log-likelihood: half the 90 % quantile of chi-square
constexpr double kPartOfFlat = 0.05;                 // of a flat direction's largest component

// How far from its bound the profile likelihood of a parameter has fallen so much: g v + ½ c v² with the slope g at the
// bound, and c the curvature when the other parameters follow.
double reach(const Fit& fit, Index i) {
  const MatrixXd inverse = fit.region.inverse();
  const VectorXd gradient = inverse.transpose() * fit.f.gradient(fit.top.u);
  const MatrixXd information = -(inverse.transpose() * fit.f.hessian(fit.top.u) * inverse);
  std::vector<Index> others;
  for (Index j = 0; j < gradient.size(); ++j)
    if (fit.top.bound[static_cast<std::size_t>(j)] == 0) others.push_back(j);
  double curvature = information(i, i);
  if (!others.empty()) {
    const VectorXd across = information(others, i);
    curvature -= across.dot(pseudo_inverse(information(others, others)) * across);
  }
  const double slope = std::abs(gradient[i]);
  if (curvature <= 1e-9 * slope * slope) return kOneSided / slope;
  return (std::sqrt(slope * slope + 2 * curvature * kOneSided) - slope) / curvature;
}
}  // namespace

std::vector<Interval> intervals(const Fit& fit, const Box& box, std::span<const VectorXd> flat) {
  std::vector<Interval> out(static_cast<std::size_t>(box.size()));
  for (Index i = 0; i < box.size(); ++i) {
    Interval& s = out[static_cast<std::size_t>(i)];
    if (std::ranges::any_of(flat,
                            [&](const VectorXd& d) { return std::abs(d[i]) > kPartOfFlat * d.cwiseAbs().maxCoeff(); }))
      continue;
    const int bound = fit.top.bound[static_cast<std::size_t>(i)];
    if (bound != 0) {
      const double length = box.scale[i] * reach(fit, i);
      s.at_bound = bound < 0 ? AtBound::lower : AtBound::upper;
      s.lower = bound < 0 ? box.lower[i] * box.scale[i] : box.upper[i] * box.scale[i] - length;
      s.upper = bound < 0 ? box.lower[i] * box.scale[i] + length : box.upper[i] * box.scale[i];
      continue;
    }
    const double se = std::sqrt(fit.covariance(i, i));
    s.std_error = se * box.scale[i];
    s.lower = box.scale[i] * std::max(box.lower[i], fit.top.z[i] - kNormal95 * se);
    s.upper = box.scale[i] * std::min(box.upper[i], fit.top.z[i] + kNormal95 * se);
  }
  return out;
}
}  // namespace mckean::search
