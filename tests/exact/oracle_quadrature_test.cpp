// The quadrature against the Kalman filter where both apply, and against itself where only it does.
#include <gtest/gtest.h>

#include <numbers>

#include "oracle/examples.hpp"

namespace {

using Eigen::VectorXd;

using oracle::missing;
constexpr oracle::Accuracy finer = {.resolution = 2, .cut = 12};

void expect_converged(const oracle::ScalarModel& model, const mckean::Data& data, int level) {
  const double value = oracle::log_likelihood(model, data, level);
  EXPECT_NEAR(oracle::log_likelihood(model, data, level, finer), value, 1e-8) << "level " << level;
}

TEST(Quadrature, AgreesWithKalmanAtEveryLevel) {
  const std::vector<oracle::OrnsteinUhlenbeck> cases = {
      {.kappa = 2, .mu = 7, .beta = 0, .R = 1},
      {.kappa = 1, .mu = 7, .beta = 1, .R = 1},
      {.kappa = 0.4, .mu = 6, .beta = -0.3, .R = 0.01, .s = 0.8, .x0 = 5, .sd0 = 0.7}};
  for (const auto& ou : cases) {
    for (int level = 0; level <= 6; ++level) {
      EXPECT_NEAR(oracle::log_likelihood(oracle::scalar_ou(ou), oracle::ou_data(), level),
                  oracle::log_likelihood(oracle::mean_field_ou(ou), oracle::ou_data(), level), 1e-9)
          << "kappa " << ou.kappa << ", level " << level;
    }
  }
}

TEST(Quadrature, IrregularMissingSeveralSeries) {
  const mckean::Data data = {
      "",
      {"y"},
      {{"a", {0, 0.4, 1.1, 2, 4.7}, {0.2, 1.4, missing, 2.3, 2}, {}}, {"b", {0.7, 2, 2.9}, {missing, 0.1, 0.5}, {}}}};
  for (double sd0 : {0.0, 0.3}) {
    const oracle::OrnsteinUhlenbeck ou = {.kappa = 0.7, .mu = 2, .beta = 0.5, .R = 0.4, .sd0 = sd0};
    for (int level = 0; level <= 4; ++level) {
      EXPECT_NEAR(oracle::log_likelihood(oracle::scalar_ou(ou), data, level),
                  oracle::log_likelihood(oracle::mean_field_ou(ou), data, level), 1e-9);
    }
  }
}

TEST(Quadrature, ScoresAgreeWithKalman) {
  const auto ou = [](const VectorXd& t) {
    return oracle::OrnsteinUhlenbeck{.kappa = t(0), .mu = t(1), .beta = t(2), .R = t(3)};
  };
  const oracle::ScalarFamily density = [&](const VectorXd& t) { return oracle::scalar_ou(ou(t)); };
  const oracle::LinearFamily linear = [&](const VectorXd& t) { return oracle::mean_field_ou(ou(t)); };
  const VectorXd theta = (VectorXd(4) << 1, 7, 1, 1).finished();
  const auto data = oracle::ou_data();
  EXPECT_LT((oracle::score(density, theta, data, 2) - oracle::score(linear, theta, data, 2)).norm(), 1e-8);
  EXPECT_LT((oracle::frozen_score(density, theta, data, 2) - oracle::frozen_score(linear, theta, data, 2)).norm(),
            1e-8);
}

TEST(Quadrature, KuramotoConverges) {
  for (double K : {1.0, -1.0}) {
    const auto model = oracle::kuramoto({.theta = 0.5, .K = K});
    const auto data = oracle::simulate(model, {.T = 100, .tau = 1});
    for (int level : {0, 1, 3}) expect_converged(model, data, level);
    expect_converged(oracle::kuramoto({.theta = 0.45, .K = K}), data, 2);
  }
}

TEST(Quadrature, NeuralConverges) {
  const auto model = oracle::neural({.alpha = 1.5, .beta = 0.4});
  const auto data = oracle::simulate(model, {.T = 100, .tau = 0.15});
  for (int level : {0, 1, 3}) expect_converged(model, data, level);
}

TEST(Quadrature, NarrowObservationsAndVaryingDiffusionConverge) {
  auto model = oracle::neural({.alpha = 1.5, .beta = 0.4, .tau = 0.01});
  const auto data = oracle::simulate(model, {.T = 20, .tau = 0.01});
  for (int level : {0, 3}) expect_converged(model, data, level);
  model.sigma = [](double x, double t) { return 0.15 + 0.05 * std::sin(x + t); };
  for (int level : {0, 3}) expect_converged(model, data, level);
}

double normal(double x, double variance) {
  return std::exp(-x * x / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
}

// Two Euler steps of length 1. The law after the first is N(m, v), so E cos = exp(-v / 2) cos m, and
//   p(y1, y2) = int N(x; m, v) N(y1; x, tau^2) N(y2; x + a(x), v + tau^2) dx.
TEST(Quadrature, TwoStepsOfKuramotoAreOneIntegral) {
  const double y1 = 2.7, y2 = 1.6;
  for (double K : {1.0, -1.0}) {
    const oracle::Kuramoto k = {.theta = 0.5, .K = K, .sigma = 0.6, .tau = 0.8, .x0 = 1.5};
    const double m = k.x0 + k.theta, v = k.sigma * k.sigma, noise = k.tau * k.tau, h = 1e-3;
    double integral = 0;
    for (double x = m - 8; x < m + 8; x += h) {
      const double a = k.theta + K * std::exp(-v / 2) * std::sin(x - m);
      integral += h * normal(x - m, v) * normal(y1 - x, noise) * normal(y2 - x - a, v + noise);
    }
    const auto data = oracle::unit_series({y1, y2});
    EXPECT_NEAR(oracle::log_likelihood(oracle::kuramoto(k), data, 0), std::log(integral), 1e-10);
  }
}

TEST(Quadrature, ExplosionIsAnError) {
  auto model = oracle::kuramoto({.theta = 0.5});
  model.drift = [](double x, std::span<const double>, double) { return x * x * x; };
  EXPECT_THROW(oracle::log_likelihood(model, oracle::unit_series({1, 1, 1, 1, 1, 1}), 0), std::range_error);
}

TEST(Quadrature, PairwiseInteractionEqualsItsMoments) {
  const auto moments = oracle::kuramoto({.theta = 0.5});
  auto pairwise = moments;
  pairwise.psi.clear();
  pairwise.xi = {[](double x, double other) { return std::sin(x - other); }};
  pairwise.drift = [](double, std::span<const double> m, double) { return 0.5 + m[0]; };
  const auto data = oracle::simulate(moments, {.T = 5, .tau = 1, .count = 2});
  EXPECT_NEAR(oracle::log_likelihood(pairwise, data, 2), oracle::log_likelihood(moments, data, 2), 1e-11);
}

TEST(Quadrature, EveryColumnIsAPathOfTheSameLaw) {
  const auto model = oracle::neural({.alpha = 1.5, .beta = 0.4});
  const auto series = oracle::simulate(model, {.T = 6, .tau = 0.15, .count = 3});
  mckean::Data columns = {"", {"y[1]", "y[2]", "y[3]"}, {{"", series.series[0].times, {}, {}}}};
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t s = 0; s < 3; ++s) columns.series[0].values.push_back(series.value(s, row, 0));
  }
  EXPECT_NEAR(oracle::log_likelihood(model, columns, 3), oracle::log_likelihood(model, series, 3), 1e-12);
}

TEST(Quadrature, LawMomentsOfOrnsteinUhlenbeckAreItsMean) {
  const oracle::OrnsteinUhlenbeck ou = {.kappa = 0.8, .mu = 3, .beta = 0.5, .R = 1, .x0 = -1};
  const auto grid = oracle::make_grid(oracle::unit_series({0, 0, 0}), 3);
  const auto moments = oracle::law_moments(oracle::scalar_ou(ou), grid);
  for (std::size_t k = 0; k < grid.size(); ++k) {
    EXPECT_NEAR(moments[k][0], 3 - 4 * std::pow(1 - 0.8 / 8, static_cast<double>(k)), 1e-12);
  }
}

TEST(Quadrature, ManyNeuralSeriesDetermineBothParameters) {
  const oracle::ScalarFamily family = [](const VectorXd& t) { return oracle::neural({.alpha = t(0), .beta = t(1)}); };
  const VectorXd truth = (VectorXd(2) << 1.5, 0.4).finished();
  const auto data = oracle::simulate(family(truth), {.T = 10, .tau = 0.15, .count = 10, .level = 1});
  const auto best = oracle::mle(family, (VectorXd(2) << 1.2, 0.5).finished(), data, 1);
  ASSERT_TRUE(best.converged);
  EXPECT_LT(oracle::score(family, best.theta, data, 1).cwiseProduct(best.standard_error).norm(), 1e-7);
  for (Eigen::Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(best.theta(i), truth(i), 4 * best.standard_error(i)) << i;
    EXPECT_LE(best.standard_error(i), i == 0 ? 1.3 : 0.064) << i;
  }
}

}  // namespace
