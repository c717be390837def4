// Exact answers for linear Gaussian mean-field models with N -> infinity:
//   dX = [A X + B E X + c] dt + S dW,  X_0 ~ N(m0, P0),  Y_j = H_j X + N(0, R_j),
// at an Euler level, or in continuous time at level `continuous`.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

#include "grid.hpp"
#include "maximise.hpp"

namespace oracle {

struct LinearModel {
  Eigen::MatrixXd A, B;
  Eigen::VectorXd c;
  Eigen::MatrixXd S;
  Eigen::VectorXd m0;
  Eigen::MatrixXd P0;
  Eigen::MatrixXd H;  // a row for each observed column
  Eigen::VectorXd R;  // noise variance of each observed column
};

using LinearFamily = std::function<LinearModel(const Eigen::VectorXd& theta)>;

// dX = [kappa (mu - X) + beta (E X - X)] dt + s dW,  Y ~ N(X, R).
struct OrnsteinUhlenbeck {
  double kappa, mu, beta, R;
  double s = 1;
  double x0 = 0;
  double sd0 = 0;
};
LinearModel mean_field_ou(const OrnsteinUhlenbeck& ou);

// One step: x' = F x + G E x + g + N(0, Q), and the law's mean by m' = Fm m + gm.
struct Transition {
  Eigen::MatrixXd F, G, Q, Fm;
  Eigen::VectorXd g, gm;
};
Transition euler_transition(const LinearModel& model, const LinearModel& law, double dt);
Transition exact_transition(const LinearModel& model, const LinearModel& law, double dt);

// log p(y) of all series. The path of E X is that of `law`, in the first form that of the model itself.
double log_likelihood(const LinearModel& model, const mckean::Data& data, int level);
double log_likelihood(const LinearModel& model, const LinearModel& law, const mckean::Data& data, int level);

// Given all observations of one series, at every grid point.
struct Smoothed {
  std::vector<Eigen::VectorXd> mean;
  std::vector<Eigen::MatrixXd> covariance;
  std::vector<Eigen::MatrixXd> lag_one;  // lag_one[k] = Cov(X_{k+1}, X_k | y)
};
std::vector<Smoothed> smooth(const LinearModel& model, const mckean::Data& data, int level);
std::vector<Smoothed> smooth(const LinearModel& model, const LinearModel& law, const mckean::Data& data, int level);

// Derivatives in theta, the law's own dependence included; `frozen_score` holds the law at theta.
Eigen::VectorXd score(const LinearFamily& family, const Eigen::VectorXd& theta, const mckean::Data& data, int level);
Eigen::VectorXd frozen_score(const LinearFamily& family, const Eigen::VectorXd& theta, const mckean::Data& data,
                             int level);
Eigen::MatrixXd observed_information(const LinearFamily& family, const Eigen::VectorXd& theta, const mckean::Data& data,
                                     int level);
Maximum mle(const LinearFamily& family, const Eigen::VectorXd& start, const mckean::Data& data, int level);

}  // namespace oracle
