#include <cmath>
#include <numbers>
#include <tuple>

#include "engine/quadrature/spread_jets.hpp"

namespace mckean {
namespace {

constexpr double kVanished = 1e-6;  // noise of this share of the least that a density feels is none

// Targets in whole lanes, so that columns stay aligned.
struct Targets {
  std::size_t first, count;
};
Targets targets(const GridDensity& to, double lo, double hi) {
  const double* x = to.x[0];
  const auto first = static_cast<std::size_t>(std::lower_bound(x, x + to.points, lo) - x) / kLanes * kLanes;
  const auto end = static_cast<std::size_t>(std::upper_bound(x + first, x + to.points, hi) - x);
  return {first, end - first};
}

double beyond(const GridDensity& from, const Fields& fields, double x, double sign) {
  double lost = 0, all = 0;
  for (std::size_t i = 0; i < from.points; ++i) {
    const double z = sign * (x - fields.mean[0][i]) / fields.sd[0][i];
    lost += from.mass[0][i] * 0.5 * std::erfc(z / std::numbers::sqrt2);
    all += from.mass[0][i];
  }
  return lost / all;
}

[[gnu::always_inline]] inline void spread_all(const GridDensity& from, const Fields& fields, double cut, Frame& frame,
                                              GridDensity& to) {
  Columns weight(1, to.points), bell(3, kBlock);
  for (std::size_t j = 0; j < to.points; ++j)
    weight[0][j] = to.jacobian[0][j] * to.step * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  const JetPoint point(from, fields);
  for (std::size_t i = 0; i < from.points; ++i) {
    const double mean = fields.mean[0][i], sd = fields.sd[0][i];
    if (!(from.mass[0][i] > 0)) continue;
    frame.set_uniforms(std::array{mean, 1 / sd});
    const auto [first, count] = targets(to, mean - cut * sd, mean + cut * sd);
    for (std::size_t at = 0; at < count; at += kBlock) {
      const std::size_t n = std::min(kBlock, count - at);
      frame.run(std::array<const double*, 2>{to.x[0] + first + at, weight[0] + first + at},
                std::array{bell[0], bell[1], bell[2]}, n);
      add_bell(point, i, 1 / sd, {bell[0], bell[1], bell[2], first + at, n}, to);
    }
  }
}

[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void spread_avx512(const GridDensity& from, const Fields& fields,
                                                                         double cut, Frame& bell, GridDensity& to) {
  spread_all(from, fields, cut, bell, to);
}
[[gnu::target("avx2")]] void spread_avx2(const GridDensity& from, const Fields& fields, double cut, Frame& bell,
                                         GridDensity& to) {
  spread_all(from, fields, cut, bell, to);
}
}  // namespace

void spread_mapped(const GridDensity& from, const Fields& fields, double cut, Frame& bell, GridDensity& to) {
  if (supported(Width::avx512)) return spread_avx512(from, fields, cut, bell, to);
  if (supported(Width::avx2)) return spread_avx2(from, fields, cut, bell, to);
  spread_all(from, fields, cut, bell, to);
}

Reach mapped_reach(const GridDensity& from, const Fields& fields, Cut cut, double step, Coordinate& coordinate) {
  double lo = fields.mean[0][0], hi = lo, least = from.jacobian[0][0];
  for (std::size_t i = 0; i < from.points; ++i) {
    if (!(from.mass[0][i] > 0)) continue;
    const double mean = fields.mean[0][i], width = cut.at * fields.sd[0][i];
    lo = std::min(lo, mean - width), hi = std::max(hi, mean + width);
    least = std::min(least, from.jacobian[0][i]);
  }
  if (!std::isfinite(lo) || !std::isfinite(hi)) return {lo, hi - lo, 0};
  const double z_lo = coordinate.toward(lo, kVanished * least), z_hi = coordinate.toward(hi, kVanished * least);
  for (const auto& [z, wanted, sign] : {std::tuple{z_lo, lo, -1.0}, std::tuple{z_hi, hi, 1.0}}) {
    const double x = coordinate.x_at(z);
    if (sign * (wanted - x) < 1e-6 * (hi - lo)) continue;
    if (const double share = beyond(from, fields, x, sign); !(share <= cut.may_cross)) throw NoiseVanishes{x, share};
  }
  const double points = std::floor((z_hi - z_lo) / step) + 1;
  return {z_lo, points, static_cast<double>(from.points) * std::min(points, 2 * cut.at / step)};
}
}  // namespace mckean
