#include "law/increments.hpp"

#include <algorithm>
#include <numbers>

namespace mckean {
namespace {
constexpr double kHalf = 1 / std::numbers::sqrt2;  // of a variance, as a factor
}

NoiseSource CoupledNoise::fine() {
  return [this](std::size_t k, std::size_t j, std::size_t first, std::size_t count, double* out) {
    fresh_(k, j, first, count, out);
    const std::size_t shared = first < sums_.rows() ? std::min(count, sums_.rows() - first) : 0;
    double* sum = sums_[j] + first;
    for (std::size_t i = 0; i < shared; ++i) sum[i] = k % 2 ? sum[i] + out[i] : out[i];
  };
}

NoiseSource CoupledNoise::coarse() {
  return [this](std::size_t, std::size_t j, std::size_t first, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = sums_[j][first + i] * kHalf;
  };
}

double CoupledNoise::coarse_single(std::size_t k, std::size_t j, std::size_t particle) const {
  return (fresh_(2 * k, j, particle) + fresh_(2 * k + 1, j, particle)) * kHalf;
}
}  // namespace mckean
