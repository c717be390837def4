#include "engine/quadrature/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr double kTypical = 4;  // standard deviations from the mean at which a Gaussian's sharpness is taken
constexpr double kMostSteps = 1e6;

// Normal mass above z standard deviations.
double tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }
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

// The last z of steps from 0 within the cut, or the last before an end.
double Placement::reach_from_start(double sd, Cut cut, double step) {
  const double way = step > 0 ? 1 : -1;
  double z = 0;
  for (double k = 0; k < kMostSteps && way * (x_at(z) - formulas_.start) < cut.at * sd; ++k) {
    if (!contains(z + step)) {
      const double x = x_at(z), share = tail(way * (x - formulas_.start) / sd);
      if (!(share <= cut.may_cross)) throw NoiseVanishes{x, share};
      break;
    }
    z += step;
  }
  return z;
}

Reach Placement::start_reach(double sd, Cut cut, double step) {
  const double lo = reach_from_start(sd, cut, -step), hi = reach_from_start(sd, cut, step);
  const double points = std::round((hi - lo) / step) + 1;
  return {lo, points, points};
}

void Placement::spread_start(double sd, GridDensity& to) {
  const Columns here = at(to.x[0], to.points);
  for (std::size_t i = 0; i < to.points; ++i) {
    const double u = (here[0][i] - formulas_.start) / sd;
    to.mass[0][i] =
        to.step * here[1][i] / sd * std::exp(-0.5 * u * u) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  }
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
