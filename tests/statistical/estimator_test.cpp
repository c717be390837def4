// Replicates of the paper's estimator one by one, the single-level estimator against exact maxima at the same level,
// and Louis' identity against the exact information. The last two compare a mean of independent chains with an exact
// answer by the chains' own standard error.
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <map>

#include "models.hpp"
#include "oracle/examples.hpp"
#include "paper/information.hpp"
#include "paper/multilevel.hpp"
#include "run/parallel.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

Data named(Data data, const Model& model) {
  data.columns = model.columns();
  return data;
}

// The matrix in front of the score: the inverse of the exact observed information, in unconstrained coordinates.
Eigen::MatrixXd newton(const Model& model, const oracle::Maximum& exact) {
  const std::vector<double> theta(exact.theta.begin(), exact.theta.end());
  return unconstrained_information(model, theta, exact.information).inverse();
}

EstimateSummary fit(const ParticleProblem& problem, const EstimatorOptions& options, std::size_t replicates) {
  const MultilevelEstimator estimator(problem, options);
  std::vector<Replicate> all(replicates);
  parallel_for(replicates, all_cores(), [&](std::size_t r) { all[r] = estimator(static_cast<std::uint32_t>(r)); });
  return summarise(std::span<const Replicate>(all));
}

// Steps 1 / (n0 + n) times the inverse observed information I: as long as the score is linear, θ^n has the mean
//   θ_★ + (θ^0 - θ_★) Π_k (1 - 1 / (n0 + k)) = θ_★ + (θ^0 - θ_★) n0 / (n0 + n).
// The means of 32 chains are compared with that, and with nothing allowed for the rest (curvature, finite N, the first
// paths): |t| < 4 with 31 degrees of freedom fails a correct program once in 2700 comparisons, of which there are four.
TEST(SingleEstimator, IsCloseToTheExactMaximum) {
  struct Case {
    std::string name;
    Overrides overrides;
    oracle::ScalarFamily family;
    VectorXd start;
    oracle::Simulation simulation;
    VectorXd most_se;  // in statistical standard errors
  };
  const Case cases[] = {{"kuramoto",
                         {{"K", 1}},
                         [](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = 1}); },
                         VectorXd{{0.5}},
                         {.T = 25, .tau = 1},
                         VectorXd{{0.024}}},
                        {"kuramoto",
                         {{"K", -1}},
                         [](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = -1}); },
                         VectorXd{{0.5}},
                         {.T = 25, .tau = 1},
                         VectorXd{{0.095}}},
                        {"neural",
                         {{"d", 1}},
                         [](const VectorXd& v) { return oracle::neural({.alpha = v[0], .beta = v[1]}); },
                         VectorXd{{0.5, 0.35}},
                         {.T = 20, .tau = 0.15, .count = 25},
                         VectorXd{{0.012, 0.007}}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Model model = tests::shipped(c.name, c.overrides);
    const Data data = named(oracle::simulate(c.family(c.start), c.simulation), model);
    const int level = 1;
    const ParticleProblem problem({model, data}, level, 1);
    const auto exact = oracle::mle(c.family, c.start, data, level);
    ASSERT_TRUE(exact.converged);
    EstimatorOptions o;
    o.kind = EstimatorOptions::Kind::single;
    o.lowest = o.highest = level;
    // For K = -1 the complete-data information is 40 times the observed one: a full Newton step would be all noise.
    const double n0 = 40;
    o.iterations = 400;
    o.particles = Rule("20", "M");
    o.law_particles = Rule("1000", "N");
    o.chain.step = {.gamma = 1, .n0 = n0, .rho = 1};
    for (Eigen::Index p = 0; p < exact.theta.size(); ++p)
      o.chain.start.push_back(exact.theta[p] - 0.5 * exact.standard_error[p]);
    o.chain.precondition = newton(model, exact);
    const EstimateSummary s = fit(problem, o, 32);
    for (std::size_t p = 0; p < s.value.size(); ++p) {
      const auto i = static_cast<Eigen::Index>(p);
      const double left = (o.chain.start[p] - exact.theta[i]) * n0 / (n0 + static_cast<double>(o.iterations));
      tests::expect_close({s.value[p], s.mc_se[p]}, exact.theta[i] + left, c.most_se[i] * exact.standard_error[i]);
    }
  }
}

// What a replicate of the paper's estimator is, without statistics: θ^{T_p} - θ^{T_{p-1}} of the chain with its
// identity (of both levels where there are two), over the probability of its cell as the paper has it. How often each
// of the 12 cells is drawn: chi-square with 11 degrees of freedom, which exceeds 37.4 once in 10000.
TEST(PaperEstimator, ReplicatesAreDifferencesOverTheProbabilitiesOfTheirCells) {
  const Model model = tests::shipped("mean-field-ou", {});
  const Data data = named(oracle::simulate(oracle::scalar_ou({0.8, 6.5, 0.6, 0.7}), {.T = 2, .tau = 1}), model);
  const int lowest = 1, highest = 3, most_p = 3;
  const ParticleProblem problem({model, data}, highest, 1);
  EstimatorOptions o;
  o.lowest = lowest, o.highest = highest, o.most_p = most_p;
  o.particles = Rule("3", "M");
  o.law_particles = Rule("4", "N");
  o.chain.start = model.start_values();
  o.chain.step = {.gamma = 0.01, .n0 = 1, .rho = 1};
  const auto level_weight = [](int l) { return std::pow(2, -l / 4.0); };
  const auto length_weight = [](int p) { return std::pow(2, -p) * (p + 1) * std::pow(std::log(p + 2), 2); };
  double levels = 0, lengths = 0;
  for (int l = lowest; l <= highest; ++l) levels += level_weight(l);
  for (int p = 0; p <= most_p; ++p) lengths += length_weight(p);
  const auto probability = [&](int l, int p) { return level_weight(l) * length_weight(p) / (levels * lengths); };

  const MultilevelEstimator estimator(problem, o);
  ChainOptions chain = o.chain;
  chain.particles = 3, chain.law_particles = chain.coarse_law_particles = 4;
  const std::uint32_t count = 3000;
  std::map<std::pair<int, int>, double> found;
  for (std::uint32_t r = 0; r < count; ++r) {
    const Replicate replicate = estimator(r);
    found[{replicate.level, replicate.p}] += 1;
    if (r >= 200) continue;
    const ChainIdentity id{o.seed, r, replicate.level};
    std::vector<VectorXd> values;  // after 0, 1, 2 ... iterations
    const auto advance = [&](auto& some, auto&& value) {
      values.push_back(VectorXd::Zero(static_cast<Eigen::Index>(o.chain.start.size())));  // the paper subtracts nothing
      for (int n = 1; n <= 1 << replicate.p; ++n) some.advance(), values.push_back(value());
    };
    const auto vector = [](const std::vector<double>& v) {
      return VectorXd(VectorXd::Map(v.data(), static_cast<Eigen::Index>(v.size())));
    };
    if (replicate.level == lowest) {
      Chain one(problem, chain, id);
      advance(one, [&] { return vector(one.theta()); });
    } else {
      CoupledChain two(problem, chain, id);
      advance(two, [&] { return VectorXd(vector(two.fine()) - vector(two.coarse())); });
    }
    const VectorXd before = values[replicate.p == 0 ? 0 : std::size_t{1} << (replicate.p - 1)];
    const VectorXd expected = (values.back() - before) / probability(replicate.level, replicate.p);
    for (Eigen::Index i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(replicate.estimate[static_cast<std::size_t>(i)], expected[i], 1e-12 * (1 + std::abs(expected[i])))
          << r << ": level " << replicate.level << ", p " << replicate.p;
  }
  double distance = 0;
  for (int l = lowest; l <= highest; ++l)
    for (int p = 0; p <= most_p; ++p) {
      const double expected = count * probability(l, p);
      distance += std::pow(found[{l, p}] - expected, 2) / expected;
    }
  EXPECT_LT(distance, 37.4);
}

TEST(Information, LouisIdentityGivesTheExactObservedInformation) {
  const Model model = tests::shipped("mean-field-ou", {{"kappa", 0.8}, {"mu", 6.5}, {"beta", 0.6}, {"R", 0.7}});
  const Data data =
      named(oracle::simulate(oracle::scalar_ou({0.8, 6.5, 0.6, 0.7}), {.T = 40, .tau = std::sqrt(0.7)}), model);
  const ParticleProblem problem({model, data}, 2, 1);
  ChainOptions chain;
  chain.particles = 30, chain.law_particles = 1000, chain.burn_in = 20, chain.start = model.start_values();
  std::vector<HeldMoments> held(8);
  parallel_for(held.size(), all_cores(), [&](std::size_t r) {
    held[r] = held_moments(problem, chain, {1, static_cast<std::uint32_t>(r), 2}, {.iterations = 200});
  });
  const Eigen::MatrixXd found = observed_information(average(held));
  const auto exact = oracle::observed_information(
      [](const VectorXd& v) {
        return oracle::mean_field_ou({v[0], v[1], v[2], v[3]});
      },
      VectorXd{{0.8, 6.5, 0.6, 0.7}}, data, 2);
  // Standard error of each entry from the eight chains, in geometric means of exact ones. That of beta, of which the
  // observations know next to nothing, is no more than seen to be small.
  const Eigen::Matrix4d most_se{
      {0.34, 0.072, 0.95, 0.165}, {0.072, 0.08, 0.24, 0.066}, {0.95, 0.24, 3.7, 0.44}, {0.165, 0.066, 0.44, 0.087}};
  for (Eigen::Index i = 0; i < 4; ++i)
    for (Eigen::Index j = 0; j < 4; ++j) {
      double variance = 0;
      for (const auto& h : held) variance += std::pow(observed_information(h)(i, j) - found(i, j), 2) / (7.0 * 8.0);
      const double size = std::sqrt(exact(i, i) * exact(j, j)), se = std::sqrt(variance);
      EXPECT_LT(std::abs(found(i, j) - exact(i, j)), 5 * se + 1e-3 * size)
          << i << j << ": " << found(i, j) << " for " << exact(i, j) << ", se " << se;
      EXPECT_LE(se, most_se(i, j) * size) << i << j;
    }
}
}  // namespace
