// The Kalman filter and smoother against the dense joint normal law of all states and observations.
#include <gtest/gtest.h>

#include <numbers>

#include "oracle/examples.hpp"

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using oracle::missing;

// Joint law of the states at all grid points, one below the other, and of the values of series s.
struct Joint {
  VectorXd x_mean;
  MatrixXd x_covariance;
  VectorXd y, y_mean;
  MatrixXd y_covariance;
  MatrixXd xy_covariance;
};

Joint dense(const oracle::LinearModel& model, const mckean::Data& data, std::size_t s, int level) {
  const auto grid = oracle::make_grid(data, level);
  const Index d = model.A.rows(), n = static_cast<Index>(grid.size());
  // X_{k+1} = X_k + (A X_k + B E X_k + c) dt + S dW: E X is its own mean, noise is added at each point.
  Joint joint;
  joint.x_mean = VectorXd::Zero(n * d);
  joint.x_mean.head(d) = model.m0;
  MatrixXd noise = MatrixXd::Zero(n * d, n * d);
  MatrixXd move = MatrixXd::Identity(n * d, n * d);  // (I - move) X = noise
  noise.topLeftCorner(d, d) = model.P0;
  for (Index k = 0; k + 1 < n; ++k) {
    const double dt = grid.dt[static_cast<std::size_t>(k)];
    const VectorXd m = joint.x_mean.segment(k * d, d);
    joint.x_mean.segment((k + 1) * d, d) = m + (model.A * m + model.B * m + model.c) * dt;
    move.block((k + 1) * d, k * d, d, d) = -(MatrixXd::Identity(d, d) + model.A * dt);
    noise.block((k + 1) * d, (k + 1) * d, d, d) = model.S * model.S.transpose() * dt;
  }
  const MatrixXd inverse = move.inverse();
  joint.x_covariance = inverse * noise * inverse.transpose();

  std::vector<VectorXd> rows;
  std::vector<double> y, variance;
  for (std::size_t row = 0; row < data.series[s].times.size(); ++row) {
    const auto found = std::find(grid.times.begin(), grid.times.end(), data.series[s].times[row]);
    for (std::size_t j = 0; j < data.columns.size(); ++j) {
      if (std::isnan(data.value(s, row, j))) continue;
      VectorXd h = VectorXd::Zero(n * d);
      h.segment((found - grid.times.begin()) * d, d) = model.H.row(static_cast<Index>(j));
      rows.push_back(h);
      y.push_back(data.value(s, row, j));
      variance.push_back(model.R(static_cast<Index>(j)));
    }
  }
  MatrixXd H(rows.size(), n * d);
  for (std::size_t i = 0; i < rows.size(); ++i) H.row(static_cast<Index>(i)) = rows[i];
  joint.y = VectorXd::Map(y.data(), static_cast<Index>(y.size()));
  joint.y_mean = H * joint.x_mean;
  joint.y_covariance = H * joint.x_covariance * H.transpose();
  joint.y_covariance += VectorXd::Map(variance.data(), static_cast<Index>(y.size())).asDiagonal();
  joint.xy_covariance = joint.x_covariance * H.transpose();
  return joint;
}

double dense_log_likelihood(const oracle::LinearModel& model, const mckean::Data& data, int level) {
  double sum = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Joint joint = dense(model, data, s, level);
    const MatrixXd L = joint.y_covariance.llt().matrixL();
    const VectorXd e = L.triangularView<Eigen::Lower>().solve(joint.y - joint.y_mean);
    sum -= 0.5 * (e.squaredNorm() + static_cast<double>(e.size()) * std::log(2 * std::numbers::pi));
    sum -= L.diagonal().array().log().sum();
  }
  return sum;
}

// Three components, the last without noise; two columns.
oracle::LinearModel three_dimensional() {
  oracle::LinearModel model;
  model.A = (MatrixXd(3, 3) << -0.9, 0.3, 0, -0.2, -0.5, 0.1, 0.7, 0, -0.3).finished();
  model.B = (MatrixXd(3, 3) << 0.4, 0, 0.1, 0, 0.3, -0.2, 0.1, 0, 0.2).finished();
  model.c = (VectorXd(3) << 0.5, -0.1, 0.2).finished();
  model.S = (MatrixXd(3, 3) << 0.6, 0.2, 0, 0.1, 0.5, 0, 0, 0, 0).finished();
  model.m0 = (VectorXd(3) << 1, -1, 0.5).finished();
  model.P0 = MatrixXd::Zero(3, 3);
  model.H = (MatrixXd(2, 3) << 1, 0, 0.5, 0, -1, 1).finished();
  model.R = (VectorXd(2) << 0.3, 0.05).finished();
  return model;
}

oracle::LinearModel with_random_start() {
  auto model = three_dimensional();
  model.P0 = (MatrixXd(3, 3) << 0.5, 0.1, 0, 0.1, 0.4, 0.2, 0, 0.2, 0.3).finished();
  return model;
}

mckean::Data irregular() {
  return {"",
          {"u", "v"},
          {{"a", {0, 0.4, 1.1, 2, 4.7}, {1.2, 1.4, 0.3, missing, missing, 0.8, missing, missing, 2, 1}, {}},
           {"b", {0.7, 2, 2.9}, {missing, 0.1, 0.5, 1.5, -0.7, missing}, {}}}};
}

TEST(Kalman, LikelihoodIsThatOfTheJointNormalLaw) {
  for (int level = 0; level <= 3; ++level) {
    for (const auto& model : {three_dimensional(), with_random_start()}) {
      EXPECT_NEAR(oracle::log_likelihood(model, irregular(), level), dense_log_likelihood(model, irregular(), level),
                  1e-10);
    }
    const auto ou = oracle::mean_field_ou({.kappa = 1, .mu = 7, .beta = 1, .R = 1, .sd0 = 0.5});
    EXPECT_NEAR(oracle::log_likelihood(ou, oracle::ou_data(), level),
                dense_log_likelihood(ou, oracle::ou_data(), level), 1e-10);
  }
}

TEST(Kalman, SmootherIsTheConditionalNormalLaw) {
  for (const auto& model : {three_dimensional(), with_random_start()}) {
    for (int level : {0, 2}) {
      const auto smoothed = oracle::smooth(model, irregular(), level);
      ASSERT_EQ(smoothed.size(), 2u);
      for (std::size_t s = 0; s < 2; ++s) {
        const Joint joint = dense(model, irregular(), s, level);
        const MatrixXd gain = joint.y_covariance.llt().solve(joint.xy_covariance.transpose()).transpose();
        const VectorXd mean = joint.x_mean + gain * (joint.y - joint.y_mean);
        const MatrixXd covariance = joint.x_covariance - gain * joint.xy_covariance.transpose();
        for (std::size_t k = 0; k < smoothed[s].mean.size(); ++k) {
          const Index at = 3 * static_cast<Index>(k);
          EXPECT_LT((smoothed[s].mean[k] - mean.segment(at, 3)).norm(), 1e-10);
          EXPECT_LT((smoothed[s].covariance[k] - covariance.block(at, at, 3, 3)).norm(), 1e-10);
          if (k + 1 == smoothed[s].mean.size()) continue;
          EXPECT_LT((smoothed[s].lag_one[k] - covariance.block(at + 3, at, 3, 3)).norm(), 1e-10);
        }
      }
    }
  }
}

// Euler levels approach the exact transitions: two Richardson steps leave an error of order dt^3.
template <class F>
double extrapolate(const F& at_level, int level) {
  const double a = at_level(level), b = at_level(level + 1), c = at_level(level + 2);
  return (8 * c - 6 * b + a) / 3;
}

TEST(Kalman, ContinuousTimeIsTheLimitOfLevels) {
  const auto data = irregular();
  const auto model = with_random_start();
  auto law = model;
  law.A *= 1.3;
  law.c(0) += 1;
  const auto own = [&](int level) { return oracle::log_likelihood(model, data, level); };
  const auto other = [&](int level) { return oracle::log_likelihood(model, law, data, level); };
  EXPECT_NEAR(own(oracle::continuous), extrapolate(own, 7), 1e-6);
  EXPECT_NEAR(other(oracle::continuous), extrapolate(other, 7), 1e-6);
  EXPECT_GT(std::abs(own(oracle::continuous) - other(oracle::continuous)), 1e-2);
  const auto mean = [&](int level) { return oracle::smooth(model, data, level)[1].mean.back()(2); };
  EXPECT_NEAR(mean(oracle::continuous), extrapolate(mean, 7), 1e-6);
}

TEST(Kalman, SeriesShareTheLawButNotThePath) {
  auto data = irregular();
  const double both = oracle::log_likelihood(three_dimensional(), data, oracle::continuous);
  auto first = data, second = data;
  first.series.pop_back();
  second.series.erase(second.series.begin());
  const double one_by_one = oracle::log_likelihood(three_dimensional(), first, oracle::continuous) +
                            oracle::log_likelihood(three_dimensional(), second, oracle::continuous);
  EXPECT_NEAR(both, one_by_one, 1e-11);
}

TEST(Kalman, MaximumHasNoScore) {
  const oracle::LinearFamily family = [](const VectorXd& t) {
    return oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = 0, .R = t(2)});
  };
  const auto data = oracle::ou_data();
  const VectorXd start = (VectorXd(3) << 2, 7, 1).finished();
  for (int level : {oracle::continuous, 3}) {
    const auto best = oracle::mle(family, start, data, level);
    ASSERT_TRUE(best.converged);
    EXPECT_LT(oracle::score(family, best.theta, data, level).norm(), 1e-7);
    const MatrixXd information = oracle::observed_information(family, best.theta, data, level);
    EXPECT_LT((information - best.information).norm(), 1e-5 * information.norm());
    EXPECT_GT(best.information.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0);
    EXPECT_GT(best.value, oracle::log_likelihood(family(start), data, level));
  }
}

}  // namespace
