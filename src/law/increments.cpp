#include "law/increments.hpp"

#include <algorithm>
#include <numbers>

namespace mckean {
namespace {

constexpr double kHalf = 1 / std::numbers::sqrt2;  // of a variance, as a factor
constexpr std::size_t kTilesAtOnce = 16;
constexpr std::size_t kNothing = std::size_t{1} << 62;  // far from every step and particle

std::size_t whole_tiles(std::size_t n) { return (n + kTileSize - 1) / kTileSize * kTileSize; }

// Even, so that pairs are not torn apart.
std::size_t steps_at_once(std::size_t rows) {
  return std::max<std::size_t>(kTilesAtOnce * kTileSize / rows / 2, 1) * 2;
}
}  // namespace

FreshNoise::FreshNoise(const NoiseOrigin& origin, std::size_t particles, Buffer buffer)
    : origin_(origin),
      particles_(whole_tiles(particles)),
      rows_(buffer == Buffer::pairs ? particles_ : std::min(particles_, kBlock)),
      steps_(rows_ == particles_ ? steps_at_once(rows_) : 1),
      z_(origin.sources, rows_ * steps_),
      held_(origin.sources, {kNothing, kNothing}) {}

void FreshNoise::fill(Held& held, std::size_t k, std::size_t j, std::size_t first) {
  held = {k, rows_ == particles_ ? 0 : first};
  normals(origin_.kernels, origin_.precision, origin_.stream, origin_.column(k, j, steps_), held.first,
          std::min(rows_, particles_ - held.first), z_[j]);
}

void FreshNoise::single(std::size_t j, std::span<const StepOfParticle> at, double* out) {
  single_normals(origin_.kernels, origin_.precision, origin_.stream, origin_.column(0, j, 1), at, out);
}

CoarseNoise::CoarseNoise(FreshNoise& fine, std::size_t particles)
    : fine_(fine), particles_(whole_tiles(particles)), z_(fine.sources(), std::min(particles_, kBlock)) {}

const double* CoarseNoise::block(std::size_t k, std::size_t j, std::size_t first) {
  const double *one = fine_.block(2 * k, j, first), *two = fine_.block(2 * k + 1, j, first);
  double* z = z_[j];
  const std::size_t n = std::min(kBlock, particles_ - first);
  for (std::size_t i = 0; i < n; ++i) z[i] = (one[i] + two[i]) * kHalf;
  return z;
}

void CoarseNoise::single(std::size_t j, std::span<const StepOfParticle> at, double* out) {
  halves_.clear();
  for (const StepOfParticle& s : at)
    halves_.insert(halves_.end(), {{2 * s.step, s.particle}, {2 * s.step + 1, s.particle}});
  parts_.resize(halves_.size());
  fine_.single(j, halves_, parts_.data());
  for (std::size_t i = 0; i < at.size(); ++i) out[i] = (parts_[2 * i] + parts_[2 * i + 1]) * kHalf;
}
}  // namespace mckean
