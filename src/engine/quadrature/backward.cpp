#include "engine/quadrature/backward.hpp"

#include <cmath>
#include <numbers>

namespace mckean {
namespace {

double jacobian(const GridDensity& d, std::size_t i) { return d.jacobian.count() > 0 ? d.jacobian[0][i] : 1; }

// The cubic on [0, 1] with these values and slopes at its ends.
double hermite(double f0, double f1, double slope0, double slope1, double u) {
  const double v = 1 - u;
  return v * v * (1 + 2 * u) * f0 + u * u * (1 + 2 * v) * f1 + u * v * (v * slope0 - u * slope1);
}

// ∫_0^x sin(t)/t dt to 1e-6: the power series, or the asymptotic one.
double sine_integral(double x) {
  if (x < 0) return -sine_integral(-x);
  if (x < 14) {
    double term = x, sum = x;
    for (int n = 3; std::abs(term) > 1e-9 && n < 100; n += 2) {
      term *= -x * x / (n * (n - 1));
      sum += term / n;
    }
    return sum;
  }
  const double y = 1 / (x * x);
  const double f = (1 - y * (2 - y * (24 - y * (720 - y * 40320)))) / x;
  const double g = (1 - y * (6 - y * (120 - y * (5040 - y * 362880)))) * y;
  return std::numbers::pi / 2 - f * std::cos(x) - g * std::sin(x);
}

// The distribution function at lo + u steps: masses on a uniform grid are samples of a density without high
// frequencies, which sin(πu)/πu interpolates.
double distribution(const std::vector<double>& m, double u) {
  double sum = 0;
  for (std::size_t j = 0; j < m.size(); ++j)
    sum += m[j] * (0.5 + sine_integral(std::numbers::pi * (u - static_cast<double>(j))) / std::numbers::pi);
  return sum;
}

double quantile(const GridDensity& density, const std::vector<double>& m, double p) {
  std::size_t j = 0;
  for (double sum = m[0] / 2; j + 2 < m.size() && sum + (m[j] + m[j + 1]) / 2 < p; ++j) sum += (m[j] + m[j + 1]) / 2;
  if (m.size() < 2) return density.x[0][0];
  double lo = std::max(0.0, static_cast<double>(j) - 1), hi = std::min(static_cast<double>(m.size() - 1), lo + 3);
  double below = distribution(m, lo) - p, above = distribution(m, hi) - p;
  for (int i = 0; i < 40 && hi - lo > 1e-7; ++i) {  // the Illinois variant of regula falsi
    const double u = below < 0 && above > 0 ? (lo * above - hi * below) / (above - below) : 0.5 * (lo + hi);
    const double here = distribution(m, u) - p;
    if (here < 0)
      lo = u, below = here, above *= 0.5;
    else
      hi = u, above = here, below *= 0.5;
  }
  const double u = std::abs(below) < std::abs(above) ? lo : hi;
  const auto k = std::min(static_cast<std::size_t>(u), m.size() - 2);
  return hermite(density.x[0][k], density.x[0][k + 1], density.step * jacobian(density, k),
                 density.step * jacobian(density, k + 1), u - static_cast<double>(k));
}
}  // namespace

Backward::Backward(const Program& bell, double cut) : bell_(bell), cut_(cut), out_(3, kBlock) { bell_.set_fixed({}); }

template <class F>
void Backward::each_target(const MovingDensity& from, std::size_t i, const GridDensity& to, F&& f) {
  const double mean = from.fields->mean[0][i], sd = from.fields->sd[0][i];
  const double* x = to.x[0];
  auto at = static_cast<std::size_t>(std::lower_bound(x, x + to.points, mean - cut_ * sd) - x) / kLanes * kLanes;
  const auto end = static_cast<std::size_t>(std::upper_bound(x + at, x + to.points, mean + cut_ * sd) - x);
  bell_.set_uniforms(std::array{mean, 1 / sd});
  for (; at < end; at += kBlock) {
    const std::size_t n = std::min(kBlock, end - at);
    bell_.run(std::array<const double*, 2>{x + at, weights_[0] + at}, std::array{out_[0], out_[1], out_[2]}, n);
    for (std::size_t j = 0; j < n; ++j) f(at + j, out_[0][j]);
  }
}

std::vector<double> Backward::step(const MovingDensity& from, const GridDensity& to, const std::vector<double>& q) {
  weights_ = Columns(1, to.points);
  for (std::size_t j = 0; j < to.points; ++j)
    weights_[0][j] = to.step * jacobian(to, j) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  std::vector<double> ratio(to.points);  // first Σ_i mass_i K_ij
  for (std::size_t i = 0; i < from.density.points; ++i)
    each_target(from, i, to, [&](std::size_t j, double k) { ratio[j] += from.density.mass[0][i] * k; });
  for (std::size_t j = 0; j < to.points; ++j) ratio[j] = ratio[j] > 0 ? q[j] / ratio[j] : 0;
  std::vector<double> out(from.density.points);
  double total = 0;
  for (std::size_t i = 0; i < from.density.points; ++i) {
    each_target(from, i, to, [&](std::size_t j, double k) { out[i] += k * ratio[j]; });
    total += out[i] *= from.density.mass[0][i];
  }
  for (double& v : out) v /= total;
  return out;
}

Smoothed summarise(const GridDensity& density, const std::vector<double>& mass) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) mean += mass[i] * density.x[0][i];
  for (std::size_t i = 0; i < mass.size(); ++i) variance += mass[i] * std::pow(density.x[0][i] - mean, 2);
  return {mean, std::sqrt(variance), quantile(density, mass, 0.05), quantile(density, mass, 0.5),
          quantile(density, mass, 0.95)};
}
}  // namespace mckean
