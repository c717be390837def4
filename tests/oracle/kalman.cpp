#include "kalman.hpp"

#include <cmath>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

namespace oracle {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// One scalar observation: innovation e = y - h m, its variance f, gain P h / f.
struct Innovation {
  VectorXd h, gain;
  double e, f;
};

// What the forward pass knows at one grid point.
struct Point {
  VectorXd mean;                         // predicted
  MatrixXd covariance;                   // predicted
  MatrixXd filtered;                     // covariance after this point's observations
  std::vector<Innovation> observations;  // taken one after the other
  MatrixXd F;                            // the transition that leaves this point
};

struct Pass {
  double log_likelihood = 0;
  std::vector<Point> points;
};

// Transitions of all steps of the grid; equal steps in a row share the work.
std::vector<Transition> transitions(const LinearModel& model, const LinearModel& law, const Grid& grid, int level) {
  std::vector<Transition> all;
  for (std::size_t k = 0; k < grid.dt.size(); ++k) {
    if (k > 0 && grid.dt[k] == grid.dt[k - 1]) {
      all.push_back(all.back());
    } else if (level == continuous) {
      all.push_back(exact_transition(model, law, grid.dt[k]));
    } else {
      all.push_back(euler_transition(model, law, grid.dt[k]));
    }
  }
  return all;
}

Pass filter(const LinearModel& model, const LinearModel& law, const mckean::Data& data, std::size_t s, const Grid& grid,
            const std::vector<Transition>& steps) {
  Pass pass;
  VectorXd m = model.m0;
  MatrixXd P = model.P0;
  VectorXd law_mean = law.m0;
  for (std::size_t k = 0; k < grid.size(); ++k) {
    Point point{m, P, {}, {}, {}};
    const std::ptrdiff_t row = grid.rows[s][k];
    for (std::size_t j = 0; row != Grid::none && j < data.columns.size(); ++j) {
      const double y = data.value(s, static_cast<std::size_t>(row), j);
      if (std::isnan(y)) continue;
      const auto column = static_cast<Index>(j);
      const VectorXd h = model.H.row(column);
      const double e = y - h.dot(m);
      const double f = h.dot(P * h) + model.R(column);
      const VectorXd gain = P * h / f;
      pass.log_likelihood -= 0.5 * (std::log(2 * std::numbers::pi * f) + e * e / f);
      m += gain * e;
      P -= f * gain * gain.transpose();
      point.observations.push_back({h, gain, e, f});
    }
    point.filtered = P;
    if (k + 1 < grid.size()) {
      const Transition& step = steps[k];
      point.F = step.F;
      m = step.F * m + step.G * law_mean + step.g;
      P = step.F * P * step.F.transpose() + step.Q;
      law_mean = step.Fm * law_mean + step.gm;
    }
    pass.points.push_back(std::move(point));
  }
  return pass;
}

// Bryson and Frazier's form of the Rauch-Tung-Striebel smoother: no covariance is inverted, so noise-free
// components need no care. With adjoints r, N of the predicted state,
//   E[x|y] = m + P r,  Var[x|y] = P - P N P,  Cov[x', x|y] = (I - P' N') F P_filtered.
Smoothed backward(const Pass& pass) {
  const std::size_t n = pass.points.size();
  const Index d = pass.points[0].mean.size();
  Smoothed smoothed{std::vector<VectorXd>(n), std::vector<MatrixXd>(n), std::vector<MatrixXd>(n - 1)};
  VectorXd r = VectorXd::Zero(d);
  MatrixXd N = MatrixXd::Zero(d, d);
  const MatrixXd I = MatrixXd::Identity(d, d);
  for (std::size_t k = n; k-- > 0;) {
    const Point& point = pass.points[k];
    if (k + 1 < n) {
      smoothed.lag_one[k] = (I - pass.points[k + 1].covariance * N) * point.F * point.filtered;
      r = point.F.transpose() * r;
      N = point.F.transpose() * N * point.F;
    }
    for (auto o = point.observations.rbegin(); o != point.observations.rend(); ++o) {
      const MatrixXd L = I - o->gain * o->h.transpose();
      r = o->h * (o->e / o->f) + L.transpose() * r;
      N = o->h * o->h.transpose() / o->f + L.transpose() * N * L;
    }
    smoothed.mean[k] = point.mean + point.covariance * r;
    smoothed.covariance[k] = point.covariance - point.covariance * N * point.covariance;
  }
  return smoothed;
}

Function likelihood_of(const LinearFamily& family, const mckean::Data& data, int level) {
  return [&family, &data, level](const VectorXd& theta) { return log_likelihood(family(theta), data, level); };
}

MatrixXd scalar(double x) { return MatrixXd::Constant(1, 1, x); }

}  // namespace

LinearModel mean_field_ou(const OrnsteinUhlenbeck& ou) {
  return {.A = scalar(-ou.kappa - ou.beta),
          .B = scalar(ou.beta),
          .c = scalar(ou.kappa * ou.mu),
          .S = scalar(ou.s),
          .m0 = scalar(ou.x0),
          .P0 = scalar(ou.sd0 * ou.sd0),
          .H = scalar(1),
          .R = scalar(ou.R)};
}

Transition euler_transition(const LinearModel& model, const LinearModel& law, double dt) {
  const MatrixXd I = MatrixXd::Identity(model.A.rows(), model.A.cols());
  return {.F = I + model.A * dt,
          .G = model.B * dt,
          .Q = model.S * model.S.transpose() * dt,
          .Fm = I + (law.A + law.B) * dt,
          .g = model.c * dt,
          .gm = law.c * dt};
}

Transition exact_transition(const LinearModel& model, const LinearModel& law, double dt) {
  const Index d = model.A.rows();
  // d(x, m, 1)/dt without noise.
  MatrixXd flow = MatrixXd::Zero(2 * d + 1, 2 * d + 1);
  flow.topLeftCorner(d, d) = model.A;
  flow.block(0, d, d, d) = model.B;
  flow.block(d, d, d, d) = law.A + law.B;
  flow.block(0, 2 * d, d, 1) = model.c;
  flow.block(d, 2 * d, d, 1) = law.c;
  const MatrixXd moved = (flow * dt).exp();
  // Van Loan: Q = int_0^dt e^{Au} S S' e^{A'u} du.
  MatrixXd noise = MatrixXd::Zero(2 * d, 2 * d);
  noise.topLeftCorner(d, d) = -model.A;
  noise.topRightCorner(d, d) = model.S * model.S.transpose();
  noise.bottomRightCorner(d, d) = model.A.transpose();
  const MatrixXd spread = (noise * dt).exp();
  const MatrixXd Q = spread.bottomRightCorner(d, d).transpose() * spread.topRightCorner(d, d);
  return {.F = moved.topLeftCorner(d, d),
          .G = moved.block(0, d, d, d),
          .Q = (Q + Q.transpose()) / 2,
          .Fm = moved.block(d, d, d, d),
          .g = moved.block(0, 2 * d, d, 1),
          .gm = moved.block(d, 2 * d, d, 1)};
}

double log_likelihood(const LinearModel& model, const LinearModel& law, const mckean::Data& data, int level) {
  const Grid grid = make_grid(data, level);
  const auto steps = transitions(model, law, grid, level);
  double sum = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    sum += filter(model, law, data, s, grid, steps).log_likelihood;
  }
  return sum;
}

double log_likelihood(const LinearModel& model, const mckean::Data& data, int level) {
  return log_likelihood(model, model, data, level);
}

std::vector<Smoothed> smooth(const LinearModel& model, const LinearModel& law, const mckean::Data& data, int level) {
  const Grid grid = make_grid(data, level);
  const auto steps = transitions(model, law, grid, level);
  std::vector<Smoothed> all;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    all.push_back(backward(filter(model, law, data, s, grid, steps)));
  }
  return all;
}

std::vector<Smoothed> smooth(const LinearModel& model, const mckean::Data& data, int level) {
  return smooth(model, model, data, level);
}

VectorXd score(const LinearFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  return gradient(likelihood_of(family, data, level), theta);
}

VectorXd frozen_score(const LinearFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  const LinearModel law = family(theta);
  const Function f = [&](const VectorXd& t) { return log_likelihood(family(t), law, data, level); };
  return gradient(f, theta);
}

MatrixXd observed_information(const LinearFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  return -hessian(likelihood_of(family, data, level), theta);
}

Maximum mle(const LinearFamily& family, const VectorXd& start, const mckean::Data& data, int level) {
  return maximise(likelihood_of(family, data, level), start);
}

}  // namespace oracle
