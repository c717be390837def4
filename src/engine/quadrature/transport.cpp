#include "engine/quadrature/transport.hpp"

#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr double kLogError = 39;  // −log of the relative error of a sum
// −log of the share of the peak with which a point counts. All points with less are together below the accuracy, and
// where the noise vanishes no grid is fine enough for them.
constexpr double kLogCounts = 34;
constexpr double kMostPoints = 1e6;
constexpr int kMostAttempts = 6;

double squared(double v) { return v * v; }

double grid_step(double inverse_variance, double resolution) {
  return std::numbers::pi * std::sqrt(2 / (kLogError * inverse_variance)) / resolution;
}

// The largest inverse variance v(i) at a point, where a point with less mass counts for less.
template <class V>
double largest(const GridDensity& density, V&& v) {
  const std::size_t peak = density.peak();
  double most = std::max(0.0, v(peak));
  for (std::size_t i = 0; i < density.points; ++i) {
    const double here = v(i);
    if (!(here > most) || !std::isfinite(here)) continue;
    const double log_share = std::log(density.mass[0][i] / density.mass[0][peak]);
    if (log_share > -kLogCounts) most = std::max(most, here * (1 + log_share / kLogError));
  }
  return most;
}

// Difference quotient of a column.
double slope(const GridDensity& density, const double* column, std::size_t i) {
  const std::size_t before = i > 0 ? i - 1 : i, after = std::min(i + 1, density.points - 1);
  return before == after ? 0 : (column[after] - column[before]) / (static_cast<double>(after - before) * density.step);
}

// The next kernel as a function of where it starts is exp(−z²/2) with |∂z/∂x| = |mean' + z sd'|/sd.
double kernel_sharpness(const Body& body, std::size_t i) {
  constexpr double kTypical = 3;  // of z
  const double *mean = body.fields->mean[0], *sd = body.fields->sd[0];
  if (body.density.points == 1) return 1 / squared(sd[i]);
  return squared((std::abs(slope(body.density, mean, i)) + kTypical * std::abs(slope(body.density, sd, i))) / sd[i]);
}
}  // namespace

double Accuracy::least() const { return std::exp(-0.5 * cut * cut); }

void Transport::arrive(Body& body, const Arrival& arrival) const {
  body.variance = arrival.next_variance;
  if (arrival.observe) {
    const Columns curvature = arrival.observe(body.density);
    body.observation = largest(body.density, [&](std::size_t i) { return curvature[0][i]; });
  }
  body.density.trim(accuracy_.least());
  if (!arrival.fields) return;
  body.fields = arrival.fields(body.density);
  body.kernel = largest(body.density, [&](std::size_t i) { return kernel_sharpness(body, i); });
}

Body Transport::start(double mean, double sd, std::size_t parameters, const Arrival& arrival) {
  Body point{point_mass(mean, parameters), std::nullopt};
  if (sd == 0) {
    arrive(point, arrival);
    return point;
  }
  point.fields = Fields{Columns(1, 1), Columns(1, 1)};
  point.fields->mean[0][0] = mean;
  point.fields->sd[0][0] = sd;
  return step(point, arrival);
}

Body Transport::step(const Body& from, const Arrival& arrival) {
  const double arriving = largest(from.density, [&](std::size_t i) { return 1 / squared(from.fields->sd[0][i]); });
  // As sharp as last time, to begin with.
  double next = arrival.observe ? from.observation : 0;
  if (arrival.fields) next += from.kernel * std::max(1.0, from.variance / arrival.next_variance);
  for (int attempt = 1;; ++attempt) {
    const double h = grid_step(arriving + next, accuracy_.resolution);
    const auto [lo, points, targets] = reach(from.density, *from.fields, accuracy_.cut, h);
    if (!(points < kMostPoints) || !(targets < accuracy_.work)) throw GridTooLarge();
    Body to{GridDensity(lo, h, static_cast<std::size_t>(points), from.density.parameters), std::nullopt};
    to.observation = from.observation;
    spread(from.density, *from.fields, accuracy_.cut, to.density);
    grid_steps_ += from.density.points;
    if (static_cast<double>(grid_steps_) > accuracy_.total) throw GridTooLarge();
    arrive(to, arrival);
    const double found = to.kernel + (arrival.observe ? to.observation : 0);
    if (arriving + found <= 1.1 * (arriving + next) || attempt == kMostAttempts) return to;
    next = found;
  }
}
}  // namespace mckean
