// The score of the published Ornstein-Uhlenbeck example at two levels, and other models' scores against quadrature.
// Standard errors from 16 independent chains: a correct program fails |z| < 4 once in 860 comparisons; seeds are fixed.
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "models.hpp"
#include "oracle/examples.hpp"
#include "paper/information.hpp"
#include "run/parallel.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

struct Found {
  VectorXd score, se;
};

Found estimate(const Model& model, Data data, int level, const SamplerOptions& settings, std::size_t iterations) {
  data.columns = model.columns();
  const ParticleProblem problem({model, data}, level, 1);
  ChainOptions chain{settings};
  chain.start = model.start_values();
  chain.burn_in = 20;
  std::vector<HeldMoments> held(16);
  parallel_for(held.size(), all_cores(), [&](std::size_t r) {
    held[r] = held_moments(problem, chain, {2, static_cast<std::uint32_t>(r), level},
                           {.iterations = iterations, .curvature = false});
  });
  const VectorXd mean = average(held).score;
  VectorXd variance = VectorXd::Zero(mean.size());
  for (const auto& h : held) variance += (h.score - mean).cwiseAbs2() / (15.0 * 16.0);
  return {mean, variance.cwiseSqrt()};
}

void expect_score(const Found& found, const VectorXd& exact, const VectorXd& most_se) {
  ASSERT_EQ(found.score.size(), exact.size());
  for (Eigen::Index p = 0; p < exact.size(); ++p)
    tests::expect_close({found.score[p], found.se[p]}, exact[p], most_se[p], std::to_string(p));
}

TEST(Score, PublishedOrnsteinUhlenbeckExample) {
  const Model model = tests::shipped("ou", {{"kappa", 2}, {"mu", 7}, {"R", 1}});
  SamplerOptions settings;
  settings.particles = 50;
  expect_score(estimate(model, oracle::ou_data(), 3, settings, 400), VectorXd{{-1.671831, 0.617692, 1.939599}},
               VectorXd{{0.08, 0.125, 0.05}});
  expect_score(estimate(model, oracle::ou_data(), 5, settings, 400), VectorXd{{-1.633498, 0.804922, 2.029298}},
               VectorXd{{0.077, 0.205, 0.046}});
}

// E[H | y] of mean-field OU with N -> infinity where dm/dθ_j is the quotient (m_θ - m_{θ - Δ e_j}) / Δ. Both means are
// noise-free components beside x, so that the Kalman filter gives the derivative at h = 0 of
//   dX = [κ(h) (μ(h) - X) + β(h) (u + h (u - v) / Δ - X)] dt + dW,   θ(h) = θ + h e_j,
//   du = κ (μ - u) dt,   dv = the same at θ - Δ e_j:
// the explicit dependence on θ_j, and that through the law.
VectorXd difference_score(const VectorXd& theta, const Data& data, int level, double delta) {
  VectorXd score(theta.size());
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    const VectorXd shifted = theta - delta * VectorXd::Unit(theta.size(), j);
    const oracle::Function log_likelihood = [&](const VectorXd& h) {
      const VectorXd t = theta + h[0] * VectorXd::Unit(theta.size(), j);
      oracle::LinearModel model;
      model.A = Eigen::Matrix3d{
          {-t[0] - t[2], t[2] * (1 + h[0] / delta), -t[2] * h[0] / delta}, {0, -theta[0], 0}, {0, 0, -shifted[0]}};
      model.B = Eigen::Matrix3d::Zero();
      model.c = VectorXd{{t[0] * t[1], theta[0] * theta[1], shifted[0] * shifted[1]}};
      model.S = VectorXd{{1, 0, 0}}.asDiagonal();
      model.m0 = VectorXd::Zero(3);
      model.P0 = Eigen::Matrix3d::Zero();
      model.H = Eigen::RowVector3d(1, 0, 0);
      model.R = VectorXd{{t[3]}};
      return oracle::log_likelihood(model, data, level);
    };
    score[j] = oracle::gradient(log_likelihood, VectorXd{{0}}, VectorXd{{0.01}})[0];
  }
  return score;
}

TEST(Score, MeanFieldOuByTangentAndByFiniteDifference) {
  const Model model = tests::shipped("mean-field-ou", {{"kappa", 1}, {"mu", 7}, {"beta", 1}, {"R", 1}});
  const VectorXd theta{{1, 7, 1, 1}}, exact{{1.756864, 2.473713, -0.939011, 1.864270}};
  expect_score(estimate(model, oracle::ou_data(), 3, {.particles = 50, .law_particles = 2000}, 300), exact,
               VectorXd{{0.12, 0.145, 0.047, 0.06}});
  // The paper's quotient has a bias of order Δ, which is computed and not allowed for: the truth is its own exact
  // score, at a level so coarse that the derivative's would not pass.
  EXPECT_LT((difference_score(theta, oracle::ou_data(), 3, 1e-6) - exact).norm(), 1e-5);
  const VectorXd by_difference = difference_score(theta, oracle::ou_data(), 1, 0.5);
  const Found found =
      estimate(model, oracle::ou_data(), 1,
               {.particles = 50, .law_particles = 2000, .derivative = Derivative::finite_difference}, 300);
  expect_score(found, by_difference, VectorXd{{0.15, 0.18, 0.085, 0.052}});
  const VectorXd by_derivative = difference_score(theta, oracle::ou_data(), 1, 1e-6);
  EXPECT_GT(std::abs(by_difference[0] - by_derivative[0]), 8 * found.se[0]);
}

TEST(Score, KuramotoAndNeuralAgainstQuadrature) {
  for (const double K : {1.0, -1.0}) {
    const Model model = tests::shipped("kuramoto", {{"K", K}, {"theta", 0.48}});
    const oracle::ScalarFamily family = [K](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = K}); };
    const Data data = oracle::simulate(oracle::kuramoto({.theta = 0.5, .K = K}), {.T = 20, .tau = 1});
    expect_score(estimate(model, data, 2, {.particles = 30, .law_particles = 4000}, 150),
                 oracle::score(family, VectorXd{{0.48}}, data, 2), VectorXd{{K > 0 ? 0.61 : 13.8}});
  }
  const Model model = tests::shipped("neural", {{"d", 1}, {"alpha", 0.6}, {"beta", 0.3}});
  const oracle::ScalarFamily family = [](const VectorXd& v) { return oracle::neural({.alpha = v[0], .beta = v[1]}); };
  const Data data = oracle::simulate(oracle::neural({.alpha = 0.5, .beta = 0.35}), {.T = 10, .tau = 0.15, .count = 4});
  expect_score(estimate(model, data, 3, {.particles = 30, .law_particles = 2000}, 200),
               oracle::score(family, VectorXd{{0.6, 0.3}}, data, 3), VectorXd{{0.027, 0.29}});
}

// A full diffusion that depends on the state: the gradient of a deterministic sum, so the path score itself is checked
// by differentiating the path's log density in theta with the law held at zero dependence (no interaction).
TEST(Score, GeneralDiffusionIsTheDerivativeOfThePathDensity) {
  const Model model = parse_model(R"toml(
[state]
x = 0.3
v = 0.1
[parameters]
a = 0.8
b = 0.4
[drift]
x = "a*v - x^2 + b"
v = "b*sin(x) - a*v"
[diffusion]
x = ["0.4*sqrt(1 + x^2)", "0.2"]
v = ["0.1*v", "0.5 + 0.1*cos(x)"]
[observation]
y = "normal(x + a*v, 0.5 + b^2)"
)toml",
                                  "general.toml");
  const Data data{"d", model.columns(), {{"", {1, 2.5}, {0.4, std::nan("")}, {1, 2}}}};
  const System system(model);
  const Schedule schedule(data, 3, 0);
  const Observation observation(model);
  ConditionalFilter filter(system, observation, schedule, {.particles = 5});
  const std::vector<double> theta = model.start_values();
  const LawNoise noise{{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}};
  const LawPath law = draw_law(system, schedule.grid, theta, noise, {.particles = 1});
  filter.set_law(law, theta);
  const Path path = filter.first_path(0, {1, 0, 0}).value();

  const auto log_density = [&](double a, double b) {
    double sum = 0;
    for (std::size_t k = 0; k < schedule.grid.steps(); ++k) {
      const double x = path[0][k], v = path[1][k], dt = schedule.grid.step[k].flow;
      Eigen::Matrix2d sigma{{0.4 * std::sqrt(1 + x * x), 0.2}, {0.1 * v, 0.5 + 0.1 * std::cos(x)}};
      const Eigen::Matrix2d covariance = sigma * sigma.transpose() * dt;
      const Eigen::Vector2d r(path[0][k + 1] - x - (a * v - x * x + b) * dt,
                              path[1][k + 1] - v - (b * std::sin(x) - a * v) * dt);
      sum -= 0.5 * r.dot(covariance.inverse() * r);
    }
    const std::size_t at = schedule.visits[0][0].point;
    const double sd = 0.5 + b * b, z = (0.4 - path[0][at] - a * path[1][at]) / sd;
    return sum - 0.5 * z * z - std::log(sd);
  };
  const ObservationScore observation_score(model);
  Score score(system, observation_score, schedule);
  score.set_parameters(theta);
  PathScore h = score.zero();
  const LawPath fresh =
      draw_law(system, schedule.grid, theta, noise, {.particles = 1, .derivative = Derivative::tangent});
  ASSERT_EQ(score.add(0, path, fresh, h), LawStatus::good);
  const double step = 1e-5;
  EXPECT_NEAR(h.gradient[0], (log_density(0.8 + step, 0.4) - log_density(0.8 - step, 0.4)) / (2 * step), 1e-6);
  EXPECT_NEAR(h.gradient[1], (log_density(0.8, 0.4 + step) - log_density(0.8, 0.4 - step)) / (2 * step), 1e-6);
}
}  // namespace
