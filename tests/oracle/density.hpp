// Densities on uniform grids, and the Gaussian kernels that make them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace oracle {

// Masses at lo, lo + step, ...; a single mass is a fixed point.
struct Density {
  double lo = 0;
  double step = 1;
  std::vector<double> mass;

  double x(std::size_t i) const { return lo + static_cast<double>(i) * step; }
  double total() const {
    double sum = 0;
    for (const double w : mass) sum += w;
    return sum;
  }
};

inline Density empty_density(double lo, double hi, double step) {
  const double points = std::ceil((hi - lo) / step) + 3;
  if (!(points >= 3 && points < 1e7)) throw std::range_error("the density does not fit on a grid");
  return {lo - step, step, std::vector<double>(static_cast<std::size_t>(points), 0.0)};
}

// Adds mass * N(mean, sd^2), cut, by the recurrence of the ratios of neighbours.
inline void deposit(Density& density, double mass, double mean, double sd, double cut) {
  const double centre = std::round((mean - density.lo) / density.step);
  const double u = (density.lo + centre * density.step - mean) / sd;
  const double w = density.step / sd;
  const auto half = static_cast<std::ptrdiff_t>(cut / w);
  double* out = density.mass.data() + static_cast<std::ptrdiff_t>(centre);
  const double peak = mass * w * std::exp(-u * u / 2) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  const double tilt = std::exp(-u * w), narrow = std::exp(-w * w / 2), square = narrow * narrow;
  out[0] += peak;
  double up = peak, up_ratio = tilt * narrow;
  double down = peak, down_ratio = narrow / tilt;
  for (std::ptrdiff_t k = 1; k <= half; ++k) {
    out[k] += up *= up_ratio;
    out[-k] += down *= down_ratio;
    up_ratio *= square;
    down_ratio *= square;
  }
}

// Drops the tails that no result can feel.
inline void trim(Density& density, double cut) {
  auto& mass = density.mass;
  const double least = 1e-6 * std::exp(-cut * cut / 2) * *std::max_element(mass.begin(), mass.end());
  const auto matters = [&](double w) { return w > least; };
  const auto first = std::find_if(mass.begin(), mass.end(), matters);
  const auto last = std::find_if(mass.rbegin(), mass.rend(), matters).base();
  if (first >= last) throw std::range_error("the density has no mass");
  density.lo = density.x(static_cast<std::size_t>(first - mass.begin()));
  mass = std::vector<double>(first, last);
}

}  // namespace oracle
