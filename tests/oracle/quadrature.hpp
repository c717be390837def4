// Exact answers for one-dimensional nonlinear mean-field models with N -> infinity, at any Euler level:
//   dX = a(X, m_t, t) dt + sigma(X, t) dW,  m_t = the moments E psi_r(X_t), then the averages E xi_r(x, X_t).
// Law and filters are densities on uniform grids, moved by the Gaussian kernel of the Euler step. The
// rectangle rule is spectrally accurate on such densities.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "grid.hpp"
#include "maximise.hpp"

namespace oracle {

struct ScalarModel {
  std::function<double(double x, std::span<const double> m, double t)> drift;
  std::function<double(double x, double t)> sigma;  // positive everywhere
  std::vector<std::function<double(double)>> psi;
  std::vector<std::function<double(double x, double other)>> xi;  // cost: points of x times points of law
  double x0 = 0;
  double sd0 = 0;  // X_0 ~ N(x0, sd0^2)
  std::function<double(double x, double y)> log_g;
};

using ScalarFamily = std::function<ScalarModel(const Eigen::VectorXd& theta)>;

struct Accuracy {
  double resolution = 1;  // grid points, in units of the sufficient number
  double cut = 10;        // standard deviations after which the kernel is zero; 8.5 unless data are far in the tails
};

// log p(y). Every column of every series is an independent path, all share one law.
// Throws std::range_error if drift, sigma or density leave what a grid can hold; `mle` takes that as -inf.
double log_likelihood(const ScalarModel& model, const mckean::Data& data, int level, Accuracy accuracy = {});
// The same with the law of another model.
double log_likelihood(const ScalarModel& model, const ScalarModel& law, const mckean::Data& data, int level,
                      Accuracy accuracy = {});

// Components that meet only through the moments of their laws, each by itself even where several are equal: m has those
// of the first component, then those of the second, ... Column j of every series observes component j.
double log_likelihood(std::span<const ScalarModel> components, const mckean::Data& data, int level,
                      Accuracy accuracy = {});

// moments[k][r] = E psi_r(X) at grid point k.
std::vector<std::vector<double>> law_moments(const ScalarModel& model, const Grid& grid, Accuracy accuracy = {});

Eigen::VectorXd score(const ScalarFamily& family, const Eigen::VectorXd& theta, const mckean::Data& data, int level);
Eigen::VectorXd frozen_score(const ScalarFamily& family, const Eigen::VectorXd& theta, const mckean::Data& data,
                             int level);
Maximum mle(const ScalarFamily& family, const Eigen::VectorXd& start, const mckean::Data& data, int level);

}  // namespace oracle
