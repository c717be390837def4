// Philox, the layout of the noise, and the distribution and independence of its normals.
//
// The statistical tests use fixed seeds. Each is a z-score, the deviation over its stated standard error, and
// fails beyond 5: a false alarm of 6e-7 a score, less than 1e-4 for all of them together under fresh seeds.
#include "noise/noise.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernel_columns.hpp"
#include "program/philox.hpp"

namespace mckean::test {
namespace {

constexpr double kBound = 5;
constexpr NormalPrecision kPrecisions[] = {NormalPrecision::single, NormalPrecision::full};

Values draw(Width w, NormalPrecision precision, const Stream& stream, Column column, std::size_t count,
            std::size_t first = 0) {
  Values z(count);
  normals(kernels(w), precision, stream, column, first, count / column.steps, z.data());
  return z;
}

Values draw(NormalPrecision precision, const Stream& stream, Column column, std::size_t count) {
  return draw(supported_widths().back(), precision, stream, column, count);
}

double draw_one(Width w, NormalPrecision precision, const Stream& stream, Column column, std::size_t particle) {
  const StepOfParticle spot{0, static_cast<std::uint32_t>(particle)};
  double z = 0;
  single_normals(kernels(w), precision, stream, column, {&spot, 1}, &z);
  return z;
}

TEST(Philox, PublishedVectors) {
  using Counter = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t ones = 0xffffffff;
  static_assert(philox({0, 0, 0, 0}, {0, 0}) == Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox({ones, ones, ones, ones}, {ones, ones}) ==
                Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, SameBitsAsRandom123) {
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i) {
    std::array<std::uint32_t, 4> x;
    std::array<std::uint32_t, 2> key;
    for (auto& word : x) word = static_cast<std::uint32_t>(random());
    for (auto& word : key) word = static_cast<std::uint32_t>(random());
    r123::Philox4x32 reference;
    const auto want = reference({{x[0], x[1], x[2], x[3]}}, {{key[0], key[1]}});
    const auto got = philox(x, key);
    for (std::size_t j = 0; j < 4; ++j) ASSERT_EQ(got[j], want[j]);
  }
}

// Every normal follows from the documented words by the textbook formula.
TEST(Noise, LayoutIsAsDocumented) {
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint32_t replicate = 0xabcdef, iteration = 0xdeadbeef, step = 77;
  const Stream stream(seed, replicate, iteration, Purpose::filter);
  const double two_pi = 6.283185307179586;
  for (Width w : supported_widths())
    for (NormalPrecision precision : kPrecisions)
      for (std::size_t particle = 0; particle < 96; ++particle) {
        const bool single = precision == NormalPrecision::single;
        const std::uint32_t pair = particle % 16, lane = single ? pair / 2 : pair;
        const auto tile = static_cast<std::uint32_t>(particle / 32 * 3 + 2);
        const auto x = philox({tile * (single ? 8 : 16) + lane, step, iteration,
                               replicate << 8 | static_cast<std::uint32_t>(Purpose::filter)},
                              {0x89abcdef, 0x01234567});
        double u1, u2;
        if (single) {
          u1 = ((x[pair % 2 * 2] >> 1) + 0.5) * 0x1p-31;
          u2 = x[pair % 2 * 2 + 1] * 0x1p-32;
        } else {
          u1 = static_cast<double>(((std::uint64_t{x[0]} << 32 | x[1]) >> 12) * 2 + 1) * 0x1p-53;
          u2 = static_cast<double>(std::uint64_t{x[2]} << 32 | x[3]) * 0x1p-64;
        }
        const double radius = std::sqrt(-2 * std::log(u1));
        const double want = radius * (particle % 32 < 16 ? std::cos(two_pi * u2) : std::sin(two_pi * u2));
        const double got = draw_one(w, precision, stream, {step, 2, 3}, particle);
        EXPECT_NEAR(got, want, single ? 4e-7 * radius + 6e-8 / radius : 4e-15 * radius)
            << kernels(w).name << " " << particle;
      }
}

TEST(Noise, AnyParticleAloneAndAnyNumberOfParticlesGiveTheSameBits) {
  const Stream stream(42, 3, 5, Purpose::law);
  for (Width w : supported_widths())
    for (NormalPrecision precision : kPrecisions) {
      const Values all = draw(w, precision, stream, {9, 1, 2}, 640);
      for (std::size_t i : {0, 1, 15, 16, 31, 32, 100, 639})
        EXPECT_EQ(draw_one(w, precision, stream, {9, 1, 2}, i), all[i]);
      const Column several{7, 1, 2, 3};  // steps 7, 8 and 9
      const Values three = draw(w, precision, stream, several, 3 * 96);
      std::vector<StepOfParticle> spots;
      for (std::uint32_t i = 0; i < 3 * 96; ++i) spots.push_back({i / 96, i % 96});
      Values alone(spots.size());
      single_normals(kernels(w), precision, stream, {7, 1, 2}, spots, alone.data());
      EXPECT_EQ(alone, three);
      EXPECT_TRUE(std::equal(three.begin() + 2 * 96, three.end(), all.begin()));
      const Values few = draw(w, precision, stream, {9, 1, 2}, 96),
                   late = draw(w, precision, stream, {9, 1, 2}, 64, 320);
      EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
      EXPECT_TRUE(std::equal(late.begin(), late.end(), all.begin() + 320));
    }
}

TEST(Noise, FusedWidthsGiveTheSameBits) {
  if (!supported(Width::avx512)) GTEST_SKIP();
  const Stream stream(1, 2, 3, Purpose::data);
  for (NormalPrecision precision : kPrecisions)
    EXPECT_EQ(draw(Width::avx2, precision, stream, {4, 0, 1}, 1 << 20),
              draw(Width::avx512, precision, stream, {4, 0, 1}, 1 << 20));
}

TEST(Noise, RefusesWhatItsCountersCannotHold) {
  EXPECT_THROW(Stream(1, 1u << 24, 0, Purpose::law), std::out_of_range);
  EXPECT_NO_THROW(Stream(1, (1u << 24) - 1, 0, Purpose::law));
  const Stream stream(1, 0, 0, Purpose::law);
  double out[32];
  for (NormalPrecision precision : kPrecisions) {
    EXPECT_THROW(normals(kernels(), precision, stream, {0, 0, 1}, std::size_t{1} << 35, 32, out), std::out_of_range);
    EXPECT_THROW(normals(kernels(), precision, stream, {0, 1, 1}, 0, 32, out), std::out_of_range);
    EXPECT_THROW(normals(kernels(), precision, stream, {0, 0, 1}, 16, 32, out), std::invalid_argument);
  }
  EXPECT_NO_THROW(normals(kernels(), NormalPrecision::full, stream, {0, 0, 1}, (std::size_t{1} << 33) - 32, 32, out));
}

double double_factorial(int n) { return n <= 1 ? 1 : n * double_factorial(n - 2); }
double normal_moment(int k) { return k % 2 == 1 ? 0 : double_factorial(k - 1); }

// Moments 1 to 8 of n normals; the standard error of the k-th is sqrt((m_2k - m_k^2)/n).
TEST(Noise, MomentsAreThoseOfTheNormalLaw) {
  const std::size_t n = 1 << 22;
  for (NormalPrecision precision : kPrecisions) {
    const Values z = draw(precision, Stream(2024, 0, 0, Purpose::law), {0, 0, 1}, n);
    for (int k = 1; k <= 8; ++k) {
      double sum = 0;
      for (double x : z) sum += std::pow(x, k);
      const double error = std::sqrt((normal_moment(2 * k) - std::pow(normal_moment(k), 2)) / n);
      EXPECT_LT(std::fabs(sum / n - normal_moment(k)) / error, kBound) << "moment " << k;
    }
    for (double x : z) ASSERT_LE(std::fabs(x), precision == NormalPrecision::single ? 6.67 : 8.58);
  }
}

// Kolmogorov-Smirnov: sqrt(n) D > 2.8 has probability 2 exp(-2 2.8^2) = 3e-7.
TEST(Noise, DistributionIsNormal) {
  const std::size_t n = 1 << 20;
  for (NormalPrecision precision : kPrecisions) {
    Values z = draw(precision, Stream(11, 0, 0, Purpose::filter), {3, 0, 1}, n);
    std::sort(z.begin(), z.end());
    double distance = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double p = 0.5 * std::erfc(-z[i] / std::sqrt(2.0)), rank = static_cast<double>(i) / n;
      distance = std::max({distance, std::fabs(p - rank), std::fabs(p - rank - 1.0 / n)});
    }
    EXPECT_LT(std::sqrt(n) * distance, 2.8);
  }
}

// z-scores of the correlations of x and y, of x^2 and y^2, and of |x| y; the standard errors for independent
// normals are 1, 2 and 1 over sqrt(n).
void expect_independent(const double* x, const double* y, std::size_t n, const char* what) {
  double plain = 0, square = 0, mixed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    plain += x[i] * y[i];
    square += (x[i] * x[i] - 1) * (y[i] * y[i] - 1) / 2;
    mixed += std::fabs(x[i]) * y[i];
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_LT(std::fabs(plain) / root, kBound) << what;
  EXPECT_LT(std::fabs(square) / root, kBound) << what;
  EXPECT_LT(std::fabs(mixed) / root, kBound) << what;
}

TEST(Noise, StreamsStepsComponentsAndParticlesAreIndependent) {
  const std::size_t n = 1 << 20;
  for (NormalPrecision precision : kPrecisions) {
    const Values x = draw(precision, Stream(5, 0, 0, Purpose::law), {0, 0, 2}, n + 64);
    const auto against = [&](const Stream& stream, Column column, const char* what) {
      expect_independent(x.data(), draw(precision, stream, column, n).data(), n, what);
    };
    against(Stream(5, 0, 0, Purpose::law), {0, 1, 2}, "component");
    against(Stream(5, 0, 0, Purpose::law), {1, 0, 2}, "step");
    against(Stream(5, 0, 0, Purpose::filter), {0, 0, 2}, "purpose");
    against(Stream(5, 0, 1, Purpose::law), {0, 0, 2}, "iteration");
    against(Stream(5, 1, 0, Purpose::law), {0, 0, 2}, "replicate");
    against(Stream(6, 0, 0, Purpose::law), {0, 0, 2}, "seed, low word");
    against(Stream(5 + (std::uint64_t{1} << 32), 0, 0, Purpose::law), {0, 0, 2}, "seed, high word");
    for (std::size_t lag : {1, 2, 8, 16, 32, 64}) expect_independent(x.data(), x.data() + lag, n, "particles apart");
  }
}

TEST(Noise, UniformsAreOpenAndUniform) {
  const Stream stream(8, 1, 2, Purpose::resample);
  const std::size_t n = 1 << 20;
  Values u(n), odd(101);
  uniforms(stream, 4, 0, n, u.data());
  uniforms(stream, 4, 7, odd.size(), odd.data());
  for (std::uint32_t i = 0; i < odd.size(); ++i) EXPECT_EQ(odd[i], uniform(stream, 4, 7 + i));
  EXPECT_TRUE(std::equal(odd.begin(), odd.end(), u.begin() + 7));
  double first = 0, second = 0, lag = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(u[i] > 0 && u[i] < 1);
    first += u[i] - 0.5;
    second += u[i] * u[i] - 1.0 / 3;
    lag += (u[i] - 0.5) * (u[(i + 1) % n] - 0.5);
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_LT(std::fabs(first) / root / std::sqrt(1.0 / 12), kBound);
  EXPECT_LT(std::fabs(second) / root / std::sqrt(1.0 / 5 - 1.0 / 9), kBound);
  EXPECT_LT(std::fabs(lag) / root * 12, kBound);
}
}  // namespace
}  // namespace mckean::test
