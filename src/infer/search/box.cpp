#include "infer/search/box.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mckean::search {
namespace {

constexpr double kMargin = 1e-6, kScaleOfZero = 0.5;
constexpr double kLargest = 300;  // logarithm of a parameter, in units of its c, that is a number all the same

double scale_of(const Parameter& p) {
  const double width = p.upper - p.lower;
  const double by_start = p.start != 0 ? std::abs(p.start) : kScaleOfZero;
  return std::isfinite(width) ? std::min(by_start, width / 2) : by_start;
}
}  // namespace

Box::Box(std::span<const Parameter> parameters) {
  const auto n = static_cast<Eigen::Index>(parameters.size());
  scale.resize(n), lower.resize(n), upper.resize(n);
  bend = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Parameter& p = parameters[static_cast<std::size_t>(i)];
    scale[i] = scale_of(p);
    lower[i] = p.lower / scale[i], upper[i] = p.upper / scale[i];
  }
}

double Box::natural(Eigen::Index i, double z) const {
  if (!std::isfinite(bend[i])) return z * scale[i];
  return scale[i] * (lower[i] + bend[i] * std::expm1(std::min((z - lower[i]) / bend[i], kLargest)));
}

double Box::slope(Eigen::Index i, double z) const {
  return std::isfinite(bend[i]) ? scale[i] * std::exp(std::min((z - lower[i]) / bend[i], kLargest)) : scale[i];
}

Eigen::VectorXd Box::slopes(const Eigen::VectorXd& z) const {
  Eigen::VectorXd out(size());
  for (Eigen::Index i = 0; i < size(); ++i) out[i] = slope(i, z[i]);
  return out;
}

double Box::bent(Eigen::Index i, double distance) const {
  return std::isfinite(bend[i]) ? bend[i] * std::log1p(distance / bend[i]) : distance;
}

Eigen::VectorXd Box::from(std::span<const double> theta) const {
  Eigen::VectorXd z(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    const double natural = theta[static_cast<std::size_t>(i)] / scale[i];
    z[i] = std::isfinite(bend[i]) ? lower[i] + bent(i, natural - lower[i]) : natural;
  }
  return z;
}

std::vector<double> Box::theta(const Eigen::VectorXd& z) const {
  std::vector<double> out(static_cast<std::size_t>(size()));
  for (Eigen::Index i = 0; i < size(); ++i) out[static_cast<std::size_t>(i)] = natural(i, z[i]);
  return out;
}

Eigen::VectorXd Box::inside(const Eigen::VectorXd& z) const {
  Eigen::VectorXd out = z;
  for (Eigen::Index i = 0; i < size(); ++i) {
    const double margin = std::min(kMargin, (upper[i] - lower[i]) / 4);
    out[i] = std::clamp(z[i], lower[i] + margin, upper[i] - margin);
  }
  return out;
}

Eigen::VectorXd Box::reflected(const Eigen::VectorXd& z) const {
  Eigen::VectorXd out = z;
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (out[i] < lower[i]) out[i] = 2 * lower[i] - out[i];
    if (out[i] > upper[i]) out[i] = 2 * upper[i] - out[i];
  }
  return inside(out);
}
}  // namespace mckean::search
