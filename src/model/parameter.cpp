#include <cmath>

#include "mckean/model.hpp"

namespace mckean {

double Parameter::to_line(double theta) const {
  const bool below = std::isfinite(lower), above = std::isfinite(upper);
  if (below && above) return std::log(theta - lower) - std::log(upper - theta);
  if (below) return std::log(theta - lower);
  if (above) return std::log(upper - theta);
  return theta;
}

double Parameter::from_line(double u) const {
  const bool below = std::isfinite(lower), above = std::isfinite(upper);
  if (below && above)  // from the nearer end, so that neither end is ever passed by rounding
    return u < 0 ? lower + (upper - lower) / (1 + std::exp(-u)) : upper - (upper - lower) / (1 + std::exp(u));
  if (below) return lower + std::exp(u);
  if (above) return upper - std::exp(u);
  return u;
}

double Parameter::slope(double u) const {
  const bool below = std::isfinite(lower), above = std::isfinite(upper);
  if (below && above) {
    const double e = std::exp(-std::abs(u));
    return (upper - lower) * e / ((1 + e) * (1 + e));
  }
  if (below) return std::exp(u);
  if (above) return -std::exp(u);
  return 1;
}
}  // namespace mckean
