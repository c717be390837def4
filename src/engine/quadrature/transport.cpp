#include "engine/quadrature/transport.hpp"

#include <cmath>
#include <numbers>

namespace mckean {
namespace {

// −log of the share of the peak with which a point counts, short of that of the error of a sum. All points with less
// are together below the accuracy, and where the noise vanishes no grid is fine enough for them.
constexpr double kLogMargin = 5;
constexpr double kLogCrosses = 27.6;  // the same where z is not x: as much may cross a zero of the noise
constexpr double kMargin = 2;         // steps' standard deviations from a zero of the noise that are left out
// Power of the share at which densities end, where a start does: z may go on for long, with drifts that grow.
constexpr double kOfStart = 0.85;
constexpr double kMostPoints = 1e6;
constexpr int kMostAttempts = 6;

double squared(double v) { return v * v; }

double grid_step(double inverse_variance, const Accuracy& accuracy) {
  return std::numbers::pi * std::sqrt(2 / (accuracy.log_error * inverse_variance)) / accuracy.resolution;
}

// The largest inverse variance v(i) at a point, where a point with less mass counts for less.
template <class V>
double largest(const GridDensity& density, double log_error, V&& v) {
  const std::size_t peak = density.peak();
  const double most_counts = log_error - kLogMargin;
  const double counts = density.jacobian.count() > 0 ? std::min(kLogCrosses, most_counts) : most_counts;
  double most = std::max(0.0, v(peak));
  for (std::size_t i = 0; i < density.points; ++i) {
    const double here = v(i);
    if (!(here > most) || !std::isfinite(here)) continue;
    const double log_share = std::log(density.mass[0][i] / density.mass[0][peak]);
    if (log_share > -counts) most = std::max(most, here * (1 + log_share / log_error));
  }
  return most;
}

// Difference quotient of a column.
double slope(const GridDensity& density, const double* column, std::size_t i) {
  const std::size_t before = i > 0 ? i - 1 : i, after = std::min(i + 1, density.points - 1);
  return before == after ? 0 : (column[after] - column[before]) / (static_cast<double>(after - before) * density.step);
}

constexpr double kTypical = 4;  // standard deviations from the mean at which a Gaussian's sharpness is taken

// The next kernel as a function of where it starts is exp(−u²/2) with |∂u/∂z| = |mean' + u sd'|/sd.
double kernel_sharpness(const MovingDensity& moving, std::size_t i) {
  const double *mean = moving.fields->mean[0], *sd = moving.fields->sd[0];
  if (moving.density.points == 1)
    return squared((moving.density.jacobian.count() ? moving.density.jacobian[0][i] : 1) / sd[i]);
  return squared((std::abs(slope(moving.density, mean, i)) + kTypical * std::abs(slope(moving.density, sd, i))) /
                 sd[i]);
}
}  // namespace

double Accuracy::least() const { return std::exp(-0.5 * cut * cut); }
double Accuracy::may_cross() const { return std::max(1e-12, std::exp(-log_error)); }

// A log-likelihood is made of some hundred sums.
Accuracy Accuracy::with_error(double of_log_likelihood) {
  Accuracy out;
  out.log_error = std::min(out.log_error, std::log(100 / of_log_likelihood));
  out.cut = std::sqrt(2 * (out.log_error + 1.5));
  return out;
}

Transport::Transport(const Formulas& formulas, std::size_t kind, Accuracy accuracy, std::uint64_t& grid_steps)
    : accuracy_(accuracy),
      kind_(kind),
      start_(formulas.kinds[kind].start),
      start_sd_(formulas.kinds[kind].start_sd),
      grid_steps_(grid_steps) {
  if (formulas.kinds[kind].place) placement_.emplace(*formulas.kinds[kind].place);
  if (!formulas.kinds[kind].scale) return;
  coordinate_ = Coordinate(*formulas.kinds[kind].scale, start_);
  bell_ = Frame(formulas.bell);
  bell_.set_fixed({});
}

MovingDensity Transport::origin(std::size_t parameters) {
  MovingDensity moving{point_mass(coordinate_, start_, parameters), std::nullopt};
  if (start_sd_ == 0) return moving;
  moving.fields = Fields{Columns(1, 1), Columns(1, 1)};
  moving.fields->mean[0][0] = start_;
  moving.fields->sd[0][0] = start_sd_;
  moving.begins = placement_.has_value();
  return moving;
}

// The largest inverse variance, in z, of a Gaussian that the points move to.
double Transport::arriving(const MovingDensity& from) {
  const double* sd = from.fields->sd[0];
  if (from.begins) return placement_->start_sharpness(start_sd_);
  if (coordinate_.plain())
    return largest(from.density, accuracy_.log_error, [&](std::size_t i) { return 1 / squared(sd[i]); });
  std::vector<double> s(from.density.points), slope(from.density.points);
  coordinate_.scale(std::span(from.fields->mean[0], from.density.points), s.data(), slope.data());
  return largest(from.density, accuracy_.log_error,
                 [&](std::size_t i) { return squared(s[i] / sd[i] + kTypical * std::abs(slope[i])); });
}

template <class F>
auto Transport::named(F&& f) const {
  try {
    return f();
  } catch (NoiseVanishes& n) {
    n.kind = kind_;
    throw;
  }
}

GridDensity Transport::spread_onto(double lo, double h, std::size_t points, const MovingDensity& from) {
  GridDensity to(coordinate_, lo, h, points, from.density.parameters);
  if (from.begins)
    named([&] { placement_->spread_start(start_sd_, accuracy_.may_cross(), to); });
  else if (coordinate_.plain())
    spread(from.density, *from.fields, accuracy_.cut, to);
  else
    spread_mapped(from.density, *from.fields, accuracy_.cut, bell_, to);
  grid_steps_ += from.density.points;
  if (static_cast<double>(grid_steps_) > accuracy_.total) throw GridTooLarge();
  return to;
}

Reach Transport::reach_from(const MovingDensity& from, double h) {
  if (from.begins) return placement_->start_reach(start_sd_, std::pow(accuracy_.least(), kOfStart), h);
  if (coordinate_.plain()) return reach(from.density, *from.fields, accuracy_.cut, h);
  return named([&] {
    return mapped_reach(from.density, *from.fields, {accuracy_.cut, accuracy_.may_cross()}, h, coordinate_);
  });
}

void Transport::keep_inside(GridDensity& density, double margin) {
  if (placement_) named([&] { placement_->keep_inside(density, margin, accuracy_.may_cross()); });
}

Transport::Move::Move(Transport& transport, const MovingDensity& from, const Arrival& arrival)
    : transport_(transport), from_(from), arrival_(arrival) {
  if (!from.fields) return;
  sharpness_ = transport.arriving(from);
  // As sharp as last time, to begin with.
  if (arrival.observe) next_ = from.observation;
  if (arrival.goes_on) next_ += from.kernel * std::max(1.0, from.variance / arrival.next_variance);
}

GridDensity Transport::Move::density() const {
  Transport& t = transport_;
  if (!from_.fields) return point_mass(t.coordinate_, t.start_, from_.density.parameters);
  double h = grid_step(sharpness_ + next_, t.accuracy_);
  if (arrival_.lattice > 0) h = arrival_.lattice / std::ceil(arrival_.lattice / h);
  const auto [lo, points, targets] = t.reach_from(from_, h);
  if (!(points < kMostPoints) || !(targets < t.accuracy_.work)) throw GridTooLarge();
  GridDensity to = t.spread_onto(lo, h, static_cast<std::size_t>(points), from_);
  if (!from_.begins) t.keep_inside(to, kMargin * from_.fields->sd[0][0]);
  return to;
}

MovingDensity Transport::Move::spread() {
  const Accuracy& accuracy = transport_.accuracy_;
  ++attempt_;
  MovingDensity to{density(), std::nullopt};
  to.observation = from_.observation;
  to.variance = arrival_.next_variance;
  if (arrival_.observe) {
    const Columns curvature = arrival_.observe(to.density);
    to.observation = largest(to.density, accuracy.log_error, [&](std::size_t i) { return curvature[0][i]; });
  }
  to.density.trim(accuracy.least());
  return to;
}

bool Transport::Move::settles(MovingDensity& to) {
  if (to.fields)
    to.kernel =
        largest(to.density, transport_.accuracy_.log_error, [&](std::size_t i) { return kernel_sharpness(to, i); });
  const double found = to.kernel + (arrival_.observe ? to.observation : 0);
  if (!from_.fields || sharpness_ + found <= 1.1 * (sharpness_ + next_) || attempt_ == kMostAttempts) return true;
  next_ = found;
  return false;
}

MovingDensity Transport::step(const MovingDensity& from, const Arrival& arrival,
                              const std::function<Fields(GridDensity&)>& fields) {
  for (Move move(*this, from, arrival);;) {
    MovingDensity to = move.spread();
    if (arrival.goes_on) to.fields = fields(to.density);
    if (move.settles(to)) return to;
  }
}
}  // namespace mckean
