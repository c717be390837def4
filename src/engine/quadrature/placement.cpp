#include "engine/quadrature/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr double kTypical = 4;  // standard deviations from the mean at which a Gaussian's sharpness is taken
constexpr double kMostSteps = 1e6;
}  // namespace

Placement::Placement(const PlaceFormulas& formulas) : formulas_(formulas), frame_(formulas.program) {
  frame_.set_fixed({});
}

Columns Placement::at(const double* z, std::size_t count) {
  Columns in(1, count), out(3, count);
  std::copy_n(z, count, in[0]);
  std::fill(in[0] + count, in[0] + in.rows(), z[count - 1]);
  frame_.over(count, std::array<const double*, 1>{in[0]}, std::array{out[0], out[1], out[2]});
  return out;
}

double Placement::start_sharpness(double sd) {
  const double z = 0;
  const Columns here = at(&z, 1);
  return std::pow(here[1][0] / sd + kTypical * std::abs(here[2][0] / here[1][0]), 2);
}

// The last z of steps from 0 to which the start has no less than this share of its density, or before an end.
double Placement::reach_from_start(double sd, double least, double step) {
  const double zero = 0, all = at(&zero, 1)[1][0];
  for (double z = 0;;) {
    const double next = z + step;
    const Columns there = at(&next, 1);
    const double u = (there[0][0] - formulas_.start) / sd;
    const bool negligible = !(there[1][0] * std::exp(-0.5 * u * u) > least * all);
    if (!contains(next) || negligible || std::abs(z) > kMostSteps * std::abs(step)) return z;
    z = next;
  }
}

Reach Placement::start_reach(double sd, double least, double step) {
  const double lo = reach_from_start(sd, least, -step), hi = reach_from_start(sd, least, step);
  const double points = std::round((hi - lo) / step) + 1;
  return {lo, points, points};
}

void Placement::spread_start(double sd, double may_cross, GridDensity& to) {
  const Columns here = at(to.x[0], to.points);
  double all = 0;
  for (std::size_t i = 0; i < to.points; ++i) {
    const double u = (here[0][i] - formulas_.start) / sd;
    to.mass[0][i] =
        to.step * here[1][i] / sd * std::exp(-0.5 * u * u) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    all += to.mass[0][i];
  }
  const std::size_t last = to.points - 1;
  if (std::abs(1 - all) <= may_cross) return;
  const bool low = std::abs(here[1][0]) < std::abs(here[1][last]);
  throw NoiseVanishes{here[0][low ? 0 : last], 1 - all};
}

void Placement::keep_inside(GridDensity& density, double margin, double may_cross) {
  std::size_t first = 0, end = density.points;
  double all = 0, lost = 0;
  for (std::size_t i = 0; i < density.points; ++i) all += density.mass[0][i];
  for (; first + 1 < end && density.x[0][first] < formulas_.lo + margin; ++first) lost += density.mass[0][first];
  for (; end > first + 1 && density.x[0][end - 1] > formulas_.hi - margin; --end) lost += density.mass[0][end - 1];
  if (!(lost <= may_cross * all)) {
    const bool low = density.x[0][0] < formulas_.lo + margin;
    throw NoiseVanishes{x_at(low ? formulas_.lo : formulas_.hi), lost / all};
  }
  density.keep(first, end - first);
}

GridDensity in_x(const KindFormulas& kind, const GridDensity& density) {
  GridDensity out(density, 0, density.points);
  if (!kind.place) return out;
  Placement placement(*kind.place);
  const Columns here = placement.at(density.x[0], density.points);
  out.jacobian = Columns(1, density.points);
  std::copy_n(here[0], density.points, out.x[0]);
  std::copy_n(here[1], density.points, out.jacobian[0]);
  return out;
}
}  // namespace mckean
