#include <fmt/format.h>

#include <cmath>

#include "mckean/model.hpp"

namespace mckean {

namespace {

// The log of the distance from a bound; a point on it, from which no step leads away, is taken for one beside it.
double log_distance(double distance) { return std::log(distance > 0 ? distance : 1e-3); }
}  // namespace

double Parameter::unconstrained(double theta) const {
  const bool below = std::isfinite(lower), above = std::isfinite(upper);
  if (below && above) return log_distance(theta - lower) - log_distance(upper - theta);
  if (below) return log_distance(theta - lower);
  if (above) return log_distance(upper - theta);
  return theta;
}

namespace {

double unclamped(const Parameter& p, double u) {
  const bool below = std::isfinite(p.lower), above = std::isfinite(p.upper);
  if (below && above)  // from the nearer end, where the spacing of numbers is finest
    return u < 0 ? p.lower + (p.upper - p.lower) / (1 + std::exp(-u))
                 : p.upper - (p.upper - p.lower) / (1 + std::exp(u));
  if (below) return p.lower + std::exp(u);
  if (above) return p.upper - std::exp(u);
  return u;
}
}  // namespace

double Parameter::natural(double u) const {
  const double theta = unclamped(*this, u);
  if (theta <= lower) return std::nextafter(lower, upper);
  return theta >= upper ? std::nextafter(upper, lower) : theta;
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

std::string to_text(std::span<const Parameter> parameters, std::span<const double> theta) {
  std::string out;
  for (std::size_t i = 0; i < theta.size(); ++i)
    out += fmt::format("{}{} = {:.6g}", i ? ", " : "", parameters[i].name, theta[i]);
  return out.empty() ? "no parameters" : out;
}
}  // namespace mckean
