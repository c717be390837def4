// Profiles by scores that are known up to noise of a known variance.
#include <gtest/gtest.h>

#include <algorithm>

#include "infer/profile.hpp"
#include "unit/synthetic_chains.hpp"

namespace mckean {
namespace {

using Eigen::VectorXd;

// −½ dᵀ I d − q d₀⁴, d = u − top: of which the profile in the first parameter is −½ (I₀₀ − I₀₁²/I₁₁) d₀² − q d₀⁴.
struct Quartic : SyntheticFit {
  double q;
  explicit Quartic(double quartic) : q(quartic) {
    chains->score = [this](const VectorXd& u, int, double) {
      const VectorXd d = u - top;
      return VectorXd(-information * d - VectorXd{{4 * q * d[0] * d[0] * d[0], 0}});
    };
  }
  double truth(double a) const {
    const double d = a - top[0];
    return -0.5 * (information(0, 0) - information(0, 1) * information(0, 1) / information(1, 1)) * d * d -
           q * d * d * d * d;
  }
  Profile run(std::uint64_t seed, ProfileOptions options = {}) {
    Workbench b = bench(seed);
    options.pilot.levels = {3, 3};
    options.pilot.chain.start = {1.5, 0};
    return profile(b, options);
  }
};

// Over 12 seeds and the eight points beside the estimate. Points of one profile err together: each z² has mean 1, their
// mean over a profile the variance 2 at the most, that over all seeds the standard error √(2/12); 4 of those.
TEST(ProfileByScores, IsWithinItsError) {
  for (const double q : {0.0, 0.4}) {
    double squares = 0, most = 0;
    constexpr int kSeeds = 12;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Quartic fit(q);
      const Profile found = fit.run(seed);
      EXPECT_TRUE(found.findings.empty()) << to_text(found.findings[0]);
      ASSERT_EQ(found.points.size(), 9u);
      double own = 0;
      for (const ProfilePoint& point : found.points) {
        const double error = point.relative - fit.truth(point.theta[0]);
        EXPECT_LT(std::abs(error), 4 * point.error + 0.02) << q << " " << point.theta[0];
        if (point.error > 0.01) own += std::pow(error / point.error, 2) / 8;
        most = std::max(most, point.error);
      }
      squares += own / kSeeds;
    }
    EXPECT_LT(squares, 1 + 4 * std::sqrt(2.0 / kSeeds)) << q;
    EXPECT_LE(most, 0.21) << q;
  }
}

TEST(ProfileByScores, IntervalEndsWhereItHasFallen) {
  Quartic fit(0.4);
  double lower = 0, upper = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Profile found = fit.run(seed, {.points = 13});
    ASSERT_TRUE(found.lower && found.upper);
    lower += fit.truth(*found.lower) / 8, upper += fit.truth(*found.upper) / 8;
  }
  EXPECT_NEAR(lower, -kFallOfInterval, 0.1);
  EXPECT_NEAR(upper, -kFallOfInterval, 0.1);
}

TEST(ProfileByScores, ARangeBesideTheEstimateIsReachedFromIt) {
  Quartic fit(0.4);
  const Profile found = fit.run(1, {.points = 3, .range = std::pair{1.4, 1.8}});
  ASSERT_EQ(found.points.size(), 3u);
  EXPECT_FALSE(found.lower);
  for (const ProfilePoint& point : found.points) {
    EXPECT_LT(std::abs(point.relative - fit.truth(point.theta[0])), 4 * point.error + 0.02) << point.theta[0];
    EXPECT_LE(point.error, 0.17);
  }
}

// Two maxima in the first parameter, −6 ((a² − 1)² + 0.8 a), of which the ascent reaches the lower one.
TEST(ProfileByScores, SaysWhereItIsHigher) {
  SyntheticFit fit;
  fit.chains->score = [&](const VectorXd& u, int, double) {
    return VectorXd{{-6 * (4 * u[0] * (u[0] * u[0] - 1) + 0.8), -2 * u[1]}};
  };
  fit.chains->complete = VectorXd{{120, 12}}.asDiagonal(), fit.chains->noise = VectorXd{{24, 10}}.asDiagonal();
  Workbench bench = fit.bench();
  ProfileOptions options{.range = std::pair{-1.5, 1.5}};
  options.points = 13;
  options.pilot.levels = {3, 3};
  options.pilot.chain.start = {0.9, 0};
  const Profile found = profile(bench, options);
  EXPECT_EQ(std::ranges::count(found.findings, Finding::Code::higher_elsewhere, &Finding::code), 1);
}
}  // namespace
}  // namespace mckean
