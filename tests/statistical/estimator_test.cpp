// The paper's estimator and its single-level sibling against exact maximum-likelihood estimates at the same level.
//
// Each comparison is a z-score of a mean of independent replicates with its own standard error. Over the 20 seeds of a
// setting the sum of squares is compared with chi-square: 52.4 is its 0.9999 quantile, 56 leaves room for estimated
// standard errors. Chains are scaled by the exact observed information, not by the scale that a fit finds for itself:
// with that one, p_max = 5 leaves a bias that these tests see. What bias p_max leaves here is not measured by itself.
#include <gtest/gtest.h>

#include <cmath>

#include "estimate/information.hpp"
#include "estimate/multilevel.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "run/parallel.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

Data named(Data data, const Model& model) {
  data.columns = model.columns();
  return data;
}

// The matrix in front of the score: the inverse of the exact observed information, on the line.
Eigen::MatrixXd newton(const Model& model, const oracle::Maximum& exact) {
  const std::vector<double> theta(exact.theta.begin(), exact.theta.end());
  return on_line(model, theta, exact.information).inverse();
}

EstimateSummary fit(const Problem& problem, const EstimatorOptions& options, std::size_t replicates) {
  const MultilevelEstimator estimator(problem, options);
  std::vector<Replicate> all(replicates);
  parallel_for(replicates, all_cores(), [&](std::size_t r) { all[r] = estimator(static_cast<std::uint32_t>(r)); });
  return summarise(std::span<const Replicate>(all));
}

EstimatorOptions paper(const Problem& problem, const oracle::Maximum& exact, int lowest, int highest) {
  EstimatorOptions o;
  o.lowest = lowest, o.highest = highest;
  o.most_p = 5;
  o.particles = Rule("20", "M");
  o.law_particles = Rule("100", "N");
  o.chain.smoother = Smoother::genealogy;
  o.chain.step = {.gamma = 1, .n0 = 1, .rho = 1};
  o.chain.start = problem.model().start_values();
  o.chain.precondition = newton(problem.model(), exact);
  return o;
}

// Σ z² over seeds for each parameter, between the chi-square quantiles for 20 degrees of freedom, 0.0001 and 0.9999,
// the upper one for z with standard errors from 400 replicates.
void expect_honest(const Problem& problem, EstimatorOptions options, const VectorXd& exact) {
  std::vector<double> sums(static_cast<std::size_t>(exact.size()));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    const EstimateSummary s = fit(problem, options, 400);
    for (std::size_t p = 0; p < sums.size(); ++p)
      sums[p] += std::pow((s.value[p] - exact[static_cast<Eigen::Index>(p)]) / s.mc_se[p], 2);
  }
  for (const double s : sums) {
    EXPECT_GT(s, 4.5);
    EXPECT_LT(s, 56);
  }
}

TEST(PaperEstimator, MeanFieldOuTwoParametersOneBounded) {
  const Model model = parse_model(R"toml(
[state]
x = 0
[parameters]
kappa = { start = 0.7, lower = 0 }
mu = 5.5
[interaction]
m = "x'"
[drift]
x = "kappa*(mu - x) + 0.5*(m - x)"
[diffusion]
x = 1
[observation]
y = "normal(x, 0.8)"
)toml",
                                  "ou.toml");
  const Data data = named(oracle::simulate(oracle::scalar_ou({0.8, 6, 0.5, 0.64}), {.T = 12, .tau = 0.8}), model);
  const Problem problem(model, data, 0, 2, 1);
  const auto exact = oracle::mle(
      [](const VectorXd& v) {
        return oracle::mean_field_ou({v[0], v[1], 0.5, 0.64});
      },
      VectorXd{{0.7, 5.5}}, data, 2);
  ASSERT_TRUE(exact.converged);
  expect_honest(problem, paper(problem, exact, 1, 2), exact.theta);
}

TEST(PaperEstimator, OrdinaryDiffusionWithUnknownObservationVariance) {
  const Model model = parse_model(R"toml(
[state]
x = "normal(4, 1)"
[parameters]
mu = 4.5
R = { start = 1, lower = 0 }
[drift]
x = "0.6*(mu - x)"
[diffusion]
x = 0.7
[observation]
y = "normal(x, sqrt(R))"
)toml",
                                  "ordinary.toml");
  const Data data = named(
      oracle::simulate(oracle::scalar_ou({.kappa = 0.6, .mu = 5, .beta = 0, .R = 0.8, .s = 0.7, .x0 = 4, .sd0 = 1}),
                       {.T = 25, .tau = std::sqrt(0.8)}),
      model);
  const Problem problem(model, data, 0, 2, 1);
  const auto family = [](const VectorXd& v) {
    return oracle::mean_field_ou({.kappa = 0.6, .mu = v[0], .beta = 0, .R = v[1], .s = 0.7, .x0 = 4, .sd0 = 1});
  };
  const auto exact = oracle::mle(family, VectorXd{{4.5, 1}}, data, 2);
  ASSERT_TRUE(exact.converged);
  expect_honest(problem, paper(problem, exact, 1, 2), exact.theta);
}

TEST(PaperEstimator, KuramotoBothSigns) {
  for (const double K : {1.0, -1.0}) {
    SCOPED_TRACE(K);
    const Model model = tests::shipped("kuramoto", {{"K", K}});
    const Data data = named(oracle::simulate(oracle::kuramoto({.theta = 0.5, .K = K}), {.T = 15, .tau = 1}), model);
    const Problem problem(model, data, 0, 2, 1);
    const auto exact = oracle::mle([K](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = K}); },
                                   VectorXd{{0.5}}, data, 2);
    ASSERT_TRUE(exact.converged);
    EstimatorOptions options = paper(problem, exact, 1, 2);
    options.law_particles = Rule("400", "N");
    expect_honest(problem, options, exact.theta);
  }
}

// Long chains at one level: what is left is the Monte Carlo error of 32 chains, below a tenth of the statistical one.
TEST(SingleEstimator, IsCloseToTheExactMaximum) {
  struct Case {
    std::string name;
    Overrides overrides;
    oracle::ScalarFamily family;
    VectorXd start;
    oracle::Simulation simulation;
  };
  const Case cases[] = {{"kuramoto",
                         {{"K", 1}},
                         [](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = 1}); },
                         VectorXd{{0.5}},
                         {.T = 25, .tau = 1}},
                        {"kuramoto",
                         {{"K", -1}},
                         [](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = -1}); },
                         VectorXd{{0.5}},
                         {.T = 25, .tau = 1}},
                        {"neural",
                         {{"d", 1}},
                         [](const VectorXd& v) { return oracle::neural({.alpha = v[0], .beta = v[1]}); },
                         VectorXd{{0.5, 0.35}},
                         {.T = 20, .tau = 0.15, .count = 25}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Model model = tests::shipped(c.name, c.overrides);
    const Data data = named(oracle::simulate(c.family(c.start), c.simulation), model);
    const int level = 2;
    const Problem problem(model, data, 0, level, 1);
    const auto exact = oracle::mle(c.family, c.start, data, level);
    ASSERT_TRUE(exact.converged);
    EstimatorOptions o;
    o.kind = EstimatorOptions::Kind::single;
    o.lowest = o.highest = level;
    // For K = -1 the complete-data information is 40 times the observed one: a full Newton step would be all noise, so
    // steps begin at 1/41. They leave 40/440 of the distance from which a chain starts, half a standard error.
    o.iterations = 400;
    o.particles = Rule("20", "M");
    o.law_particles = Rule("1000", "N");
    o.chain.step = {.gamma = 1, .n0 = 40, .rho = 1};
    for (Eigen::Index p = 0; p < exact.theta.size(); ++p)
      o.chain.start.push_back(exact.theta[p] - 0.5 * exact.standard_error[p]);
    o.chain.precondition = newton(model, exact);
    const EstimateSummary s = fit(problem, o, 32);
    for (std::size_t p = 0; p < s.value.size(); ++p) {
      const auto i = static_cast<Eigen::Index>(p);
      EXPECT_LT(std::abs(s.value[p] - exact.theta[i]), 4 * s.mc_se[p] + 0.05 * exact.standard_error[i])
          << s.value[p] << " for " << exact.theta[i];
      EXPECT_LT(s.mc_se[p], 0.1 * exact.standard_error[i]);
    }
  }
}

TEST(Information, LouisIdentityGivesTheExactObservedInformation) {
  const Model model = tests::shipped("mean-field-ou", {{"kappa", 0.8}, {"mu", 6.5}, {"beta", 0.6}, {"R", 0.7}});
  const Data data =
      named(oracle::simulate(oracle::scalar_ou({0.8, 6.5, 0.6, 0.7}), {.T = 40, .tau = std::sqrt(0.7)}), model);
  const Problem problem(model, data, 0, 2, 1);
  ChainOptions chain;
  chain.particles = 30, chain.law_particles = 1000, chain.start = model.start_values();
  std::vector<HeldMoments> held(8);
  parallel_for(held.size(), all_cores(), [&](std::size_t r) {
    held[r] = hold(problem, chain, {1, static_cast<std::uint32_t>(r), 2}, {.iterations = 200, .burn_in = 20});
  });
  const Eigen::MatrixXd found = observed_information(average(held));
  const auto exact = oracle::observed_information(
      [](const VectorXd& v) {
        return oracle::mean_field_ou({v[0], v[1], v[2], v[3]});
      },
      VectorXd{{0.8, 6.5, 0.6, 0.7}}, data, 2);
  // Standard error of each entry from the eight chains.
  for (Eigen::Index i = 0; i < 4; ++i)
    for (Eigen::Index j = 0; j < 4; ++j) {
      double variance = 0;
      for (const auto& h : held) variance += std::pow(observed_information(h)(i, j) - found(i, j), 2) / (7.0 * 8.0);
      EXPECT_LT(std::abs(found(i, j) - exact(i, j)),
                5 * std::sqrt(variance) + 1e-3 * std::sqrt(exact(i, i) * exact(j, j)))
          << i << j << ": " << found(i, j) << " for " << exact(i, j) << ", se " << std::sqrt(variance);
    }
}
}  // namespace
