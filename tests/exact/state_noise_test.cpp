// Quadrature where the noise depends on the state: geometric, logistic, square-root and Jacobi noise.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/quadrature/quadrature_engine.hpp"
#include "infer/continuous.hpp"
#include "mckean/likelihood.hpp"
#include "mckean/tasks.hpp"
#include "oracle/examples.hpp"
#include "run/thread_runner.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;

Model one_state(const std::string& start, const std::string& parameters, const std::string& drift,
                const std::string& diffusion, const std::string& observation) {
  return parse_model("[state]\nx = " + start + "\n[parameters]\n" + parameters +
                         "[interaction]\nm = \"x'\"\n[drift]\nx = \"" + drift + "\"\n[diffusion]\nx = \"" + diffusion +
                         "\"\n[observation]\ny = \"" + observation + "\"\n",
                     "state-noise.toml");
}

Model geometric(double s) {
  return one_state("1", "mu = 0.1\ntau = { start = 0.3, lower = 0 }\n", "mu*x", std::to_string(s) + "*x",
                   "normal(log(x), tau)");
}

const Data& logs() {
  static const Data data = oracle::unit_series({0.3, 0.1, 0.5, 0.2, 0.9});
  return data;
}

// log p(y) of the geometric model at an Euler level by brute force: u = log x is a random walk with increments
// log(1 + μΔ + s√Δ ξ), whose density is convolved on a fine grid.
double by_random_walk(double mu, double tau, double s, const Data& data, int level) {
  constexpr double kStep = 0.004;
  constexpr std::ptrdiff_t kReach = 500, kMiddle = 750,
                           kPoints = 2 * kMiddle + 1;  // u from −3 to 3, increments from −2 to 2
  const double dt = std::exp2(-level), sd = s * std::sqrt(dt);
  std::vector<double> jump(2 * kReach + 1), p(kPoints);
  for (std::ptrdiff_t j = -kReach; j <= kReach; ++j) {
    const double e = std::exp(static_cast<double>(j) * kStep), z = (e - 1 - mu * dt) / sd;
    jump[static_cast<std::size_t>(j + kReach)] =
        kStep * std::exp(-0.5 * z * z) * e / (sd * std::sqrt(2 * std::numbers::pi));
  }
  p[kMiddle] = 1;
  double out = 0;
  for (const double y : data.series[0].values) {
    for (int k = 0; k < 1 << level; ++k) {
      std::vector<double> next(kPoints);
      for (std::ptrdiff_t i = 0; i < kPoints; ++i)
        for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - kReach);
             p[static_cast<std::size_t>(i)] > 0 && j < std::min(kPoints, i + kReach); ++j)
          next[static_cast<std::size_t>(j)] +=
              p[static_cast<std::size_t>(i)] * jump[static_cast<std::size_t>(j - i + kReach)];
      p = next;
    }
    double total = 0;
    for (std::ptrdiff_t i = 0; i < kPoints; ++i) {
      const double z = (y - static_cast<double>(i - kMiddle) * kStep) / tau;
      total += p[static_cast<std::size_t>(i)] *= std::exp(-0.5 * z * z) / (tau * std::sqrt(2 * std::numbers::pi));
    }
    for (double& v : p) v /= total;
    out += std::log(total);
  }
  return out;
}

TEST(StateNoise, GeometricAtEulerLevels) {
  for (const auto& c : {std::pair{0.15, 0}, {0.2, 1}, {0.3, 3}}) {
    const double s = c.first;
    const int level = c.second;
    SCOPED_TRACE(level);
    const Quadrature quadrature({geometric(s), logs()}, level);
    const std::vector<double> theta{0.1, 0.3};
    const QuadratureValue found = quadrature.value(theta);
    EXPECT_NEAR(found.loglik, by_random_walk(0.1, 0.3, s, logs(), level), 1e-9);
    const auto at = [&](double mu, double tau) { return by_random_walk(mu, tau, s, logs(), level); };
    EXPECT_NEAR(found.gradient(0), (at(0.101, 0.3) - at(0.099, 0.3)) / 0.002, 2e-5);
    EXPECT_NEAR(found.hessian(0, 0), (at(0.11, 0.3) - 2 * at(0.1, 0.3) + at(0.09, 0.3)) / 1e-4, 2e-3);
    EXPECT_NEAR(found.hessian(0, 1), (at(0.11, 0.31) - at(0.11, 0.29) - at(0.09, 0.31) + at(0.09, 0.29)) / 4e-4, 2e-2);
  }
}

// The logarithm of geometric Brownian motion is linear.
TEST(StateNoise, GeometricInContinuousTime) {
  for (const double s : {0.2, 0.6}) {
    const QuadratureEngine engine({geometric(s), logs()});
    ThreadRunner runner(1);
    const std::vector<double> theta{0.1, 0.3};
    const Evaluation found = in_continuous_time(engine, theta, Order::information, runner);
    oracle::LinearModel linear = oracle::mean_field_ou({.kappa = 0, .mu = 0, .beta = 0, .R = 0.09, .s = s});
    const auto exact = [&](double mu) {
      linear.c(0) = mu - 0.5 * s * s;
      return oracle::log_likelihood(linear, logs(), oracle::continuous);
    };
    EXPECT_NEAR(found.loglik, exact(0.1), 1e-5);
    EXPECT_NEAR(found.gradient[0], (exact(0.1001) - exact(0.0999)) / 2e-4, 1e-4 * std::sqrt(found.information[0]));
    EXPECT_LE(found.levels.back(), 4);
  }
}

TEST(StateNoise, LevelsThatPassAZeroAreRefused) {
  const QuadratureEngine engine({geometric(0.5), logs()});
  const Outcome coarse = engine.at(std::vector{0.1, 0.3}, Order::value, {}, {.effort = {.level = 2}});
  ASSERT_FALSE(coarse);
  EXPECT_EQ(coarse.failure().code, Failure::Code::too_coarse);
  EXPECT_NE(coarse.failure().message.find("where its noise vanishes"), std::string::npos) << coarse.failure().message;
  EXPECT_TRUE(engine.at(std::vector{0.1, 0.3}, Order::value, {}, {.effort = {.level = 5}}));
}

struct Case {
  const char* name;
  Model model;
  int level;
  std::vector<double> theta, y;
};
std::vector<Case> cases() {
  const char* two = "a = { start = 0.8, lower = 0 }\nb = { start = 0.5, lower = 0 }\n";
  return {{"logistic",
           one_state("0.5", two, "a*x*(1 - x/(2*b)) + 0.3*x*(m - x)", "0.3*x", "normal(x, 0.2)"),
           3,
           {0.9, 0.7},
           {0.9, 1.1, 1.6, 0.8, 1.3}},
          {"logistic growth with a random start, noise that grows",
           one_state("\"normal(0.8, 0.1)\"", two, "a*x*(1 - x/(2*b))", "0.2*x*(1 + 0.1*t)", "normal(x, 0.2)"),
           3,
           {0.9, 0.7},
           {0.9, 1.1, 1.6, 0.8, 1.3}},
          {"square root",
           one_state("1", two, "a*(2*b - x) + 0.2*(m - x)", "0.25*sqrt(x)", "normal(x, 0.2)"),
           3,
           {0.9, 0.5},
           {0.9, 1.1, 1.4, 0.8, 0.7}},
          {"Jacobi",
           one_state("0.4", two, "a*(b - x) + 0.2*(m - x)", "0.25*sqrt(x*(1 - x))", "normal(x, 0.1)"),
           3,
           {1, 0.5},
           {0.3, 0.5, 0.6, 0.45, 0.7}}};
}

// Splitting steps of z against Euler's of x, which are finer by far.
TEST(StateNoise, SplittingAndEulerHaveOneLimit) {
  std::vector<Case> all = cases();
  all.erase(all.begin() + 1);  // a noise that depends on time has no chart
  const char* two = "a = { start = 0.8, lower = 0 }\nb = { start = 0.5, lower = 0 }\n";
  all.push_back({"logistic growth with a random start",
                 one_state("\"normal(0.8, 0.1)\"", two, "a*x*(1 - x/(2*b)) + 0.2*(m - x)", "0.2*x", "normal(x, 0.2)"),
                 3,
                 {0.9, 0.7},
                 {0.9, 1.1, 1.6, 0.8, 1.3}});
  all.push_back({"noise that grows",
                 one_state("0.2", two, "a*(b - x)", "sqrt(0.2 + 0.1*x^2)", "student_t(4, x, 0.2)"),
                 3,
                 {0.9, 0.7},
                 {0.9, -0.4, 1.6, 0.8, 1.3}});
  all.push_back({"logistic noise",
                 one_state("0.4", two, "a*(b - x)", "0.4*x*(1 - x)", "normal(x, 0.1)"),
                 3,
                 {1, 0.5},
                 {0.3, 0.5, 0.6, 0.45, 0.7}});
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    const QuadratureEngine engine({c.model, oracle::unit_series(c.y)});
    EXPECT_EQ(engine.scheme(), Scheme::splitting);
    const Request fast{.effort = {.level = 4, .scheme = Scheme::splitting, .extrapolated = true}};
    const Request slow{.effort = {.level = 6, .scheme = Scheme::euler, .extrapolated = true}};
    const Outcome a = engine.at(c.theta, Order::information, {}, fast),
                  b = engine.at(c.theta, Order::information, {}, slow);
    ASSERT_TRUE(a) << a.failure().message;
    ASSERT_TRUE(b) << b.failure().message;
    EXPECT_NEAR(a->loglik, b->loglik, 2e-4);
    for (std::size_t p = 0; p < 2; ++p)
      EXPECT_NEAR(a->gradient[p], b->gradient[p], 1e-3 * (1 + std::abs(b->gradient[p])));
    for (std::size_t p = 0; p < 4; ++p)
      EXPECT_NEAR(a->information[p], b->information[p], 2e-3 * (1 + std::abs(b->information[p])));
    const auto u = engine.states_at(c.theta, fast), v = engine.states_at(c.theta, slow);
    ASSERT_TRUE(u && v);
    for (std::size_t row = 0; row < c.y.size(); ++row) {
      const Smoothed &s = (*u)[0][0][row], &t = (*v)[0][0][row];
      EXPECT_NEAR(s.mean, t.mean, 1e-3 * t.sd);
      EXPECT_NEAR(s.sd, t.sd, 1e-3 * t.sd);
      EXPECT_NEAR(s.q05, t.q05, 2e-3 * t.sd);
      EXPECT_NEAR(s.q50, t.q50, 2e-3 * t.sd);
      EXPECT_NEAR(s.q95, t.q95, 2e-3 * t.sd);
    }
  }
}

TEST(StateNoise, SplittingStepsNearAZeroAreRefused) {
  const Model model =
      one_state("0.3", "a = { start = 0.8, lower = 0 }\n", "a*(0.3 - x)", "0.6*sqrt(x)", "normal(x, 0.2)");
  const QuadratureEngine engine({model, logs()});
  const Outcome at =
      engine.at(std::vector{0.8}, Order::value, {}, {.effort = {.level = 4, .scheme = Scheme::splitting}});
  ASSERT_FALSE(at);
  EXPECT_EQ(at.failure().code, Failure::Code::too_coarse);
  EXPECT_NE(at.failure().message.find("where its noise vanishes"), std::string::npos) << at.failure().message;
}

TEST(StateNoise, GridsAreFineEnough) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Data data = oracle::unit_series(c.y);
    for (const Scheme scheme : {Scheme::euler, Scheme::splitting}) {
      const Quadrature usual = Quadrature({c.model, data}, c.level).with(c.level, {}, {}, scheme);
      if (!usual.has_steps(scheme)) continue;
      const QuadratureValue found = usual.value(c.theta),
                            fine = usual.with(c.level, {.resolution = 2}, {}, scheme).value(c.theta);
      EXPECT_NEAR(found.loglik, fine.loglik, 1e-9);
      EXPECT_LT((found.gradient - fine.gradient).norm(), 1e-8 * (1 + fine.gradient.norm()));
      EXPECT_LT((found.hessian - fine.hessian).norm(), 1e-7 * fine.hessian.norm());
    }
  }
}

// Standard errors of 0.003 to 0.005; 4.5 of them fail once in 10^5 runs, and seeds are fixed.
TEST(StateNoise, AgreesWithParticles) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Problem problem(c.model, oracle::unit_series(c.y));
    const double exact = Quadrature(problem, c.level).value(c.theta, Quadrature::Order::value).loglik;
    AverageOptions options{.repeats = 16};
    options.request.effort = {.level = c.level, .particles = 8192, .law_particles = 8192};
    ThreadRunner runner(1);
    const auto found = average_likelihood(*make_engine("particles", problem), c.theta, options, runner).summary;
    tests::expect_close({found.value, *found.se}, exact, 0.0056, c.name, 4.5);
  }
}
}  // namespace
