// Models and data that several tests share.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kalman.hpp"
#include "quadrature.hpp"

namespace oracle {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();  // an observation that is not there

// One series of one column, observed at 1, 2, ...
mckean::Data unit_series(const std::vector<double>& values);

// 25 observations of an Ornstein-Uhlenbeck process, from the notebook of UnbiasedScore.
mckean::Data ou_data();

// Mean-field OU as a scalar model, to compare quadrature with Kalman filter.
ScalarModel scalar_ou(const OrnsteinUhlenbeck& ou);

// dX = [theta + K int sin(X - x') mu(dx')] dt + sigma dW,  Y ~ N(X, tau^2).
struct Kuramoto {
  double theta;
  double K = 1;
  double sigma = 0.15;
  double tau = 1;
  double x0 = 1.5;
};
ScalarModel kuramoto(const Kuramoto& k);

// dX = [alpha (E f(X) - f(X)) + beta (w X - b)] dt + sigma dW, f the logistic function,  Y ~ N(X, tau^2).
struct Neural {
  double alpha, beta;
  double w = -1;
  double b = 0;
  double sigma = 0.15;
  double tau = 0.15;
  double x0 = 1;
};
ScalarModel neural(const Neural& n);

// dX = [a (X − X³) + theta (E X − X)] dt + sigma dW, X_0 ~ N(0.5, 0.3²),  Y ~ X + tau t_5.
struct DesaiZwanzig {
  double a, theta;
  double sigma = 0.6;
  double tau = 0.4;
};
ScalarModel desai_zwanzig(const DesaiZwanzig& d);

// `count` series at times 1..T of a model without xi: Euler paths in the exact law, plus noise of sd tau.
struct Simulation {
  int T;
  double tau;
  int count = 1;
  int level = 5;
  std::uint64_t seed = 1;
};
mckean::Data simulate(const ScalarModel& model, const Simulation& simulation);

}  // namespace oracle
