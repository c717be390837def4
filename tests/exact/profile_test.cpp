// Profiles against those of a Kalman filter: exactly for quadrature, within their Monte Carlo error for scores.
#include "infer/profile.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"
#include "oracle/examples.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

constexpr int kLevel = 2;

// kappa and mu are free, beta and R known.
const char* const kTwoParameters = R"toml(
[state]
x = 0.0
[parameters]
kappa = { start = 0.7, lower = 0 }
mu = 6.0
[interaction]
m = "x'"
[drift]
x = "kappa*(mu - x) + 0.5*(m - x)"
[diffusion]
x = 1.0
[observation]
y = "normal(x, 0.7)"
)toml";

oracle::LinearModel ou_of(double kappa, double mu) {
  return oracle::mean_field_ou({.kappa = kappa, .mu = mu, .beta = 0.5, .R = 0.49});
}

struct OuCase {
  Model model = parse_model(kTwoParameters, "two.toml");
  Data data = oracle::ou_data();
  oracle::Maximum best =
      oracle::mle([](const VectorXd& t) { return ou_of(t(0), t(1)); }, VectorXd{{0.7, 6}}, data, kLevel);

  // The maximum over the other parameter.
  oracle::Maximum given(std::size_t parameter, double value) const {
    const auto f = [&](const VectorXd& other) {
      return oracle::log_likelihood(parameter == 0 ? ou_of(value, other(0)) : ou_of(other(0), value), data, kLevel);
    };
    return oracle::maximise(f, best.theta.segment(parameter == 0 ? 1 : 0, 1));
  }

  Profile profile_of(ProfileOptions options, std::optional<int> level = kLevel) const {
    options.level = level;
    options.pilot.levels = {kLevel, kLevel};
    options.pilot.chain.start = model.start_values();
    options.pilot.chain.antithetic_laws = true;
    const ParticleProblem problem({model, data}, kLevel, 1);
    ThreadRunner runner(all_cores());
    FitObserver silent;
    return profile(problem, options, runner, silent);
  }
};

TEST(Profile, QuadratureIsExact) {
  const OuCase c;
  for (const std::size_t p : {0, 1}) {
    const Profile found = c.profile_of({.engine = "quadrature", .parameter = p});
    ASSERT_EQ(found.points.size(), 9);
    EXPECT_TRUE(found.findings.empty()) << to_text(found.findings[0]);
    EXPECT_NEAR(found.loglik->value, c.best.value, 1e-6);
    EXPECT_NEAR(found.points[4].relative, 0, 1e-9);
    for (const ProfilePoint& point : found.points) {
      const oracle::Maximum exact = c.given(p, point.theta[p]);
      EXPECT_NEAR(point.relative, exact.value - c.best.value, 1e-6) << point.theta[p];
      EXPECT_NEAR(point.theta[1 - p], exact.theta(0), 1e-4 * exact.standard_error(0)) << point.theta[p];
    }
    // The interval ends where the profile has fallen by 1.92, up to the interpolation between grid points.
    ASSERT_TRUE(found.lower && found.upper);
    for (const double end : {*found.lower, *found.upper})
      EXPECT_NEAR(c.given(p, end).value - c.best.value, -kFallOfInterval, 0.02);
  }
}

// Both exact engines, one of which extrapolates, against the oracle.
TEST(Profile, ContinuousTimeIsThatOfTheDiffusion) {
  const OuCase c;
  const auto value = [&](double kappa, double mu) {
    return oracle::log_likelihood(ou_of(kappa, mu), c.data, oracle::continuous);
  };
  const auto best = oracle::maximise([&](const VectorXd& t) { return value(t(0), t(1)); }, c.best.theta);
  for (const char* engine : {"quadrature", "kalman"}) {
    const Profile found = c.profile_of({.engine = engine, .parameter = 1}, {});
    EXPECT_FALSE(found.level);
    EXPECT_EQ(found.levels.empty(), engine == std::string("kalman"));
    for (const ProfilePoint& point : found.points) {
      const auto given =
          oracle::maximise([&](const VectorXd& t) { return value(t(0), point.theta[1]); }, best.theta.segment(0, 1));
      EXPECT_NEAR(point.relative, given.value - best.value, 1e-4) << engine << point.theta[1];
    }
  }
}

// 18 values, four errors each: one false alarm in a thousand if they were independent.
TEST(Profile, ScoresAreWithinTheirError) {
  const OuCase c;
  for (const std::size_t p : {0, 1}) {
    const Profile found = c.profile_of({.parameter = p});
    ASSERT_EQ(found.points.size(), 9);
    for (const ProfilePoint& point : found.points) {
      EXPECT_NEAR(point.relative, c.given(p, point.theta[p]).value - c.best.value, 4 * point.error + 1e-3)
          << point.theta[p] << " " << point.error;
      EXPECT_LE(point.error, 0.17);
    }
  }
}

// A range that does not contain the estimate is reached from it.
TEST(Profile, RangeBesideTheEstimate) {
  const OuCase c;
  const double mu = c.best.theta(1), se = c.best.standard_error(1);
  for (const char* engine : {"particles", "quadrature", "kalman"}) {
    const Profile found =
        c.profile_of({.engine = engine, .parameter = 1, .points = 3, .range = std::pair{mu + 1.5 * se, mu + 2.5 * se}});
    ASSERT_EQ(found.points.size(), 3);
    EXPECT_FALSE(found.lower);
    for (const ProfilePoint& point : found.points) {
      EXPECT_NEAR(point.relative, c.given(1, point.theta[1]).value - c.best.value, 4 * point.error + 1e-3);
      EXPECT_LE(point.error, 0.085);
    }
  }
}

TEST(Profile, IntegralOfCubicsIsExact) {
  const VectorXd nodes{{-1, 0, 0.5, 2, 3.5}};
  const auto f = [](double x) { return 1 - x + x * x * x; };
  const auto integral = [](double x) { return x - x * x / 2 + x * x * x * x / 4; };
  VectorXd values(nodes.size());
  for (Eigen::Index k = 0; k < nodes.size(); ++k) values[k] = f(nodes[k]);
  for (const auto& [a, b] : {std::pair{-1.0, 3.5}, {0.2, 1.7}, {3.0, -0.5}, {1.0, 1.0}})
    EXPECT_NEAR(integral_weights(nodes, a, b).dot(values), integral(b) - integral(a), 1e-12);
}

TEST(Profile, RefusesARangeOutsideTheBounds) {
  EXPECT_THROW(OuCase().profile_of({.parameter = 0, .range = std::pair{-1.0, 2.0}}), InputError);
}
}  // namespace
