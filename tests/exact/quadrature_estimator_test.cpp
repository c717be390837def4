#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "models.hpp"
#include "oracle/examples.hpp"
#include "quadrature/quadrature.hpp"

namespace {
using namespace mckean;
using Eigen::VectorXd;

TEST(QuadratureEstimator, Ou) {
  const Model model = tests::shipped("mean-field-ou");
  Data data = oracle::ou_data();
  const oracle::LinearFamily linear = [](const VectorXd& t) {
    return oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = t(2), .R = t(3)});
  };
  for (int level = 0; level <= 5; ++level) {
    const Quadrature q(model, data, 0, level);
    const std::vector<double> theta{1, 7, 1, 1};
    const VectorXd th = VectorXd::Map(theta.data(), 4);
    auto t0 = std::chrono::steady_clock::now();
    const auto v = q.value(theta);
    auto t1 = std::chrono::steady_clock::now();
    const auto w = q.value(theta, Quadrature::Order::value);
    auto t2 = std::chrono::steady_clock::now();
    std::printf("%d %.3e %.3e g %.3e h %.3e  %g s %g s  %lu\n", level, v.loglik - oracle::log_likelihood(linear(th), data, level),
                v.loglik - w.loglik, (v.gradient - oracle::score(linear, th, data, level)).norm(),
                (v.hessian + oracle::observed_information(linear, th, data, level)).norm(),
                std::chrono::duration<double>(t1 - t0).count(), std::chrono::duration<double>(t2 - t1).count(), v.grid_steps);
  }
}

TEST(QuadratureEstimator, Kuramoto) {
  for (double K : {1.0, -1.0}) {
    const Model model = tests::shipped("kuramoto", {{"K", K}});
    const auto truth = oracle::kuramoto({.theta = 0.5, .K = K});
    const Data data = oracle::simulate(truth, {.T = 100, .tau = 1});
    const oracle::ScalarFamily family = [&](const VectorXd& t) { return oracle::kuramoto({.theta = t(0), .K = K}); };
    for (int level = 0; level <= 4; ++level) {
      const Quadrature q(model, data, 0, level);
      auto t0 = std::chrono::steady_clock::now();
      const std::vector<double> theta{0.5};
      const auto v = q.value(theta);
      auto t1 = std::chrono::steady_clock::now();
      const auto w = q.value(theta, Quadrature::Order::value);
      auto t2 = std::chrono::steady_clock::now();
      const VectorXd g = level < 3 ? oracle::score(family, VectorXd::Constant(1, 0.5), data, level) : VectorXd::Zero(1);
      std::printf("%g %d %.3e g %.10g %.10g  h %g  %g s %g s  %lu\n", K, level, v.loglik - oracle::log_likelihood(truth, data, level),
                  v.gradient(0), g(0), v.hessian(0, 0), std::chrono::duration<double>(t1 - t0).count(),
                  std::chrono::duration<double>(t2 - t1).count(), v.grid_steps);
      (void)w;
    }
  }
}
}  // namespace
