#include "infer/search/box.hpp"

#include <algorithm>
#include <cmath>

namespace mckean::search {
namespace {

constexpr double kMargin = 1e-6, kScaleOfZero = 0.5;

double scale_of(const Parameter& p) {
  const double width = p.upper - p.lower;
  const double by_start = p.start != 0 ? std::abs(p.start) : kScaleOfZero;
  return std::isfinite(width) ? std::min(by_start, width / 2) : by_start;
}
}  // namespace

Box::Box(std::span<const Parameter> parameters) {
  const auto n = static_cast<Eigen::Index>(parameters.size());
  scale.resize(n), lower.resize(n), upper.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Parameter& p = parameters[static_cast<std::size_t>(i)];
    scale[i] = scale_of(p);
    lower[i] = p.lower / scale[i], upper[i] = p.upper / scale[i];
  }
}

Eigen::VectorXd Box::from(std::span<const double> theta) const {
  Eigen::VectorXd z(size());
  for (Eigen::Index i = 0; i < size(); ++i) z[i] = theta[static_cast<std::size_t>(i)] / scale[i];
  return z;
}

std::vector<double> Box::theta(const Eigen::VectorXd& z) const {
  std::vector<double> out(static_cast<std::size_t>(size()));
  for (Eigen::Index i = 0; i < size(); ++i) out[static_cast<std::size_t>(i)] = z[i] * scale[i];
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
