// The oracles against numbers known from elsewhere, and the time grid against counts made by hand.
#include <gtest/gtest.h>

#include "oracle/examples.hpp"

namespace {

using Eigen::VectorXd;
using oracle::continuous;

VectorXd vec(std::initializer_list<double> values) {
  VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

void expect_near(const VectorXd& actual, const VectorXd& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (Eigen::Index i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual(i), expected(i), tolerance) << i;
}

// theta = (kappa, mu, R), beta = 0.
oracle::LinearModel without_interaction(const VectorXd& t) {
  return oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = 0, .R = t(2)});
}

// theta = (kappa, mu, beta, R).
oracle::LinearModel with_interaction(const VectorXd& t) {
  return oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = t(2), .R = t(3)});
}

struct Row {
  oracle::LinearFamily family;
  VectorXd theta;
  int level;
  double log_likelihood;
  VectorXd score;
};

TEST(KnownAnswers, MeanFieldOrnsteinUhlenbeck) {
  const VectorXd plain = vec({2, 7, 1}), mean_field = vec({1, 7, 1, 1});
  const std::vector<Row> table = {
      // Published with UnbiasedScore.
      {without_interaction, plain, continuous, -41.299195, vec({-1.612760, 0.866775, 2.058201})},
      {without_interaction, plain, 3, -41.484092, vec({-1.671831, 0.617692, 1.939599})},
      {without_interaction, plain, 5, -41.339966, vec({-1.633498, 0.804922, 2.029298})},
      {with_interaction, mean_field, continuous, -41.570885, vec({2.345846, 2.737259, -1.065101, 2.264806})},
      {with_interaction, mean_field, 3, -41.386386, vec({1.756864, 2.473713, -0.939011, 1.864270})}};
  const auto data = oracle::ou_data();
  for (const Row& row : table) {
    SCOPED_TRACE(testing::Message() << row.theta.size() << " parameters, level " << row.level);
    EXPECT_NEAR(oracle::log_likelihood(row.family(row.theta), data, row.level), row.log_likelihood, 1e-6);
    expect_near(oracle::score(row.family, row.theta, data, row.level), row.score, 1e-6);
  }
}

TEST(KnownAnswers, FrozenLawMissesPartOfTheScore) {
  const VectorXd theta = vec({1, 7, 1, 1});
  const VectorXd frozen = oracle::frozen_score(with_interaction, theta, oracle::ou_data(), continuous);
  // beta and R do not move the law's mean.
  expect_near(frozen, vec({0.554385, 1.484307, -1.065101, 2.264806}), 1e-6);
}

TEST(KnownAnswers, KuramotoInformationAndDiscretisationBias) {
  const auto data = oracle::simulate(oracle::kuramoto({.theta = 0.5}), {.T = 100, .tau = 1});
  const oracle::ScalarFamily family = [](const VectorXd& t) { return oracle::kuramoto({.theta = t(0)}); };
  VectorXd theta = vec({0.4});
  for (int level = 1; level <= 3; ++level) {
    const auto best = oracle::mle(family, theta, data, level);
    EXPECT_TRUE(best.converged);
    EXPECT_NEAR(best.standard_error(0), 0.0166, 2e-4);
    EXPECT_NEAR(best.theta(0), 0.5, 4 * best.standard_error(0));
    EXPECT_NE(best.theta(0), theta(0));
    if (level > 1) {
      EXPECT_NEAR(best.theta(0), theta(0), 0.05 * best.standard_error(0));
    }
    theta = best.theta;
  }
}

TEST(Derivatives, OfAKnownFunction) {
  const oracle::Function f = [](const VectorXd& x) { return std::exp(x(0)) * std::sin(2 * x(1)); };
  const VectorXd at = vec({0.7, -0.4});
  const double e = std::exp(0.7), s = std::sin(-0.8), c = std::cos(-0.8);
  expect_near(oracle::gradient(f, at), vec({e * s, 2 * e * c}), 1e-11);
  const Eigen::MatrixXd h = oracle::hessian(f, at);
  expect_near(h.col(0), vec({e * s, 2 * e * c}), 1e-9);
  expect_near(h.col(1), vec({2 * e * c, -4 * e * s}), 1e-9);
}

TEST(Derivatives, MaximumFromWhereTheFunctionIsConvex) {
  const oracle::Function f = [](const VectorXd& x) {
    const double u = x(0) - 3, v = x(1) + 1;
    return std::exp(-(u * u + u * v + v * v) / 2);
  };
  const auto best = oracle::maximise(f, vec({1, 0.5}));
  EXPECT_TRUE(best.converged);
  expect_near(best.theta, vec({3, -1}), 1e-9);
  expect_near(best.standard_error, vec({std::sqrt(4.0 / 3), std::sqrt(4.0 / 3)}), 1e-7);
}

mckean::Data at_times(std::initializer_list<std::vector<double>> series) {
  mckean::Data data{"", {"y"}, {}};
  for (const auto& times : series) {
    data.series.push_back({"", times, std::vector<double>(times.size(), 0.0), {}});
  }
  return data;
}

TEST(TimeGrid, UnionOfIrregularSeries) {
  // Distinct times 0.5, 1, 2, 5; gaps 0.5, 1, 3; unit 1.
  const auto data = at_times({{0.5, 2, 5}, {1, 2}});
  const auto coarse = oracle::make_grid(data, 0);
  EXPECT_EQ(coarse.times, (std::vector<double>{0, 0.5, 1, 2, 3, 4, 5}));
  EXPECT_EQ(coarse.at, (std::vector<std::size_t>{1, 2, 3, 6}));
  EXPECT_EQ(coarse.rows[0], (std::vector<std::ptrdiff_t>{-1, 0, -1, 1, -1, -1, 2}));
  EXPECT_EQ(coarse.rows[1], (std::vector<std::ptrdiff_t>{-1, -1, 0, 1, -1, -1, -1}));
  const auto fine = oracle::make_grid(data, 2);
  EXPECT_EQ(fine.size(), 25u);
  for (std::size_t k = 0; k < coarse.size(); ++k) EXPECT_DOUBLE_EQ(fine.times[4 * k], coarse.times[k]);
  EXPECT_DOUBLE_EQ(fine.dt[0], 0.125);
  EXPECT_DOUBLE_EQ(fine.dt[23], 0.25);
}

TEST(TimeGrid, MedianOfAnEvenNumberOfGapsAndRounding) {
  // Gaps 1 and 3, unit 2: the first interval, of length 4, gets 2 steps; that of length 3 gets round(1.5).
  EXPECT_EQ(oracle::make_grid(at_times({{4, 5, 8}}), 0).times, (std::vector<double>{0, 2, 4, 5, 6.5, 8}));
}

TEST(TimeGrid, OneTimeAndTimeZero) {
  EXPECT_EQ(oracle::make_grid(at_times({{3}}), 1).times, (std::vector<double>{0, 1.5, 3}));
  const auto zero = oracle::make_grid(at_times({{0}}), 4);
  EXPECT_EQ(zero.times, (std::vector<double>{0}));
  EXPECT_EQ(zero.rows[0], (std::vector<std::ptrdiff_t>{0}));
  const auto from_zero = oracle::make_grid(at_times({{0, 2, 4}}), 0);
  EXPECT_EQ(from_zero.times, (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(from_zero.at, (std::vector<std::size_t>{0, 1, 2}));
}

}  // namespace
