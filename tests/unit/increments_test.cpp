// Normals in blocks, ahead of time or not, are those that each step and particle has alone.
#include "law/increments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

namespace mckean::test {
namespace {

constexpr std::size_t kSources = 2, kSteps = 40, kFirstStep = 1000;

double alone(NoiseSource& noise, std::size_t k, std::size_t j, std::size_t i) {
  const StepOfParticle spot{static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)};
  double z = 0;
  noise.single(j, {&spot, 1}, &z);
  return z;
}

void expect_blocks_of_singles(NoiseSource& noise, std::size_t k, std::size_t particles) {
  for (std::size_t first = 0; first < particles; first += kBlock)
    for (std::size_t j = 0; j < kSources; ++j) {
      const double* z = noise.block(k, j, first);
      const std::size_t n = std::min(kBlock, particles - first);
      for (const std::size_t i : {std::size_t{0}, n / 2, n - 1})
        ASSERT_EQ(z[i], alone(noise, k, j, first + i)) << "step " << k << ", particle " << first + i;
    }
}

class Increments : public testing::TestWithParam<std::size_t> {
 protected:
  NoiseOrigin origin{kernels(), NormalPrecision::single, {7, 0, 3, Purpose::filter}, kFirstStep, kSources};
};
INSTANTIATE_TEST_SUITE_P(Particles, Increments, testing::Values(1, 31, 33, 100, 256, 257, 1000));

TEST_P(Increments, FreshBlocksAreTheNormalsOfTheStream) {
  const std::size_t particles = GetParam();
  FreshNoise noise(origin, particles);
  alignas(64) double want[1024];
  for (std::size_t k = 0; k < kSteps; ++k) {
    expect_blocks_of_singles(noise, k, particles);
    normals(kernels(), origin.precision, origin.stream, {static_cast<std::uint32_t>(kFirstStep + k), 1, kSources}, 0,
            1024, want);
    EXPECT_EQ(alone(noise, k, 1, particles - 1), want[particles - 1]);
  }
}

TEST_P(Increments, CoarseBlocksAreSumsOfFineOnes) {
  const std::size_t particles = GetParam(), coarse_particles = (particles + 2) / 3;
  FreshNoise fine(origin, particles, FreshNoise::Buffer::pairs);
  CoarseNoise coarse(fine, coarse_particles);
  for (std::size_t k = 0; k < kSteps / 2; ++k) {
    expect_blocks_of_singles(fine, 2 * k, particles);
    expect_blocks_of_singles(fine, 2 * k + 1, particles);
    expect_blocks_of_singles(coarse, k, coarse_particles);
    const std::size_t last = coarse_particles - 1;
    EXPECT_EQ(alone(coarse, k, 0, last),
              (alone(fine, 2 * k, 0, last) + alone(fine, 2 * k + 1, 0, last)) * (1 / std::numbers::sqrt2));
  }
}
}  // namespace
}  // namespace mckean::test
