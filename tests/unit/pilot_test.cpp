// The pilot of fits by scores, where the scores are known: the way to the maximum, Newton's rounds, biases, and what is
// chosen from them.
#include "paper/pilot.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "unit/synthetic_chains.hpp"
#include "z_score.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

Place place_at(const VectorXd& u, int level = 3) { return {u, level, {}}; }

ScoreMaximum maximum_from(SyntheticFit& fit, const VectorXd& u, std::uint64_t seed = 1) {
  Workbench bench = fit.bench(seed);
  const Place place = place_at(u);
  const Probe first =
      probe(bench, "first", std::span(&place, 1), {.chains = 8, .iterations = 24, .curvature = true})[0];
  return find_maximum(bench, "maximum", place, first, {true, true});
}

// Of Σ z² over 24 seeds and two parameters, chi-square with 48 degrees of freedom: one in 1000 is outside.
constexpr double kLeastSquares = 22.0, kMostSquares = 87.0;

TEST(Newton, FindsTheMaximumAndTheInformation) {
  SyntheticFit fit;
  const VectorXd se = fit.covariance().diagonal().cwiseSqrt();
  double squares = 0;
  MatrixXd mean = MatrixXd::Zero(2, 2);
  constexpr int kSeeds = 24;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ScoreMaximum found = maximum_from(fit, VectorXd{{1.2, -1.5}}, seed);
    EXPECT_TRUE(found.converged && found.undetermined.empty());
    EXPECT_LE(found.relative_error, 0.06);
    const VectorXd d = found.u - fit.top;
    squares += d.dot(found.u_error.inverse() * d);
    for (Index p = 0; p < 2; ++p) EXPECT_LE(std::sqrt(found.u_error(p, p)), 0.17 * se[p]);
    mean += found.information / kSeeds;
  }
  EXPECT_GT(squares, kLeastSquares);
  EXPECT_LT(squares, kMostSquares);
  EXPECT_LT((mean - fit.information).norm(), 0.05 * fit.information.norm()) << mean;
}

// n (u − e^u), along both directions: 1.25 standard errors away it is not quite a parabola, so that the mean score of
// two such points vanishes 0.07 standard errors from the maximum.
TEST(Newton, SkewedLikelihood) {
  SyntheticFit fit;
  fit.information = 30 * MatrixXd::Identity(2, 2);
  fit.chains->score = [](const VectorXd& u, int, double) { return VectorXd(30 * (1 - u.array().exp())); };
  fit.chains->complete = 6 * fit.information, fit.chains->noise = 5 * fit.information;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ScoreMaximum found = maximum_from(fit, VectorXd{{-0.4, 0.3}}, seed);
    EXPECT_TRUE(found.converged);
    for (Index p = 0; p < 2; ++p) {
      EXPECT_LT(std::abs(found.u[p]), 4 * std::sqrt(found.u_error(p, p)) + 0.1 / std::sqrt(30));
      EXPECT_LE(std::sqrt(found.u_error(p, p)), 0.09 / std::sqrt(30));
      EXPECT_NEAR(found.information(p, p) / 30, 1, 0.25);
    }
  }
}

TEST(Newton, NamesTheDirectionThatTheDataDoNotDetermine) {
  SyntheticFit fit;
  fit.information = MatrixXd{{4, 4}, {4, 4}};
  fit.chains->complete = MatrixXd{{24, 3}, {3, 24}};
  fit.chains->noise = fit.chains->complete - fit.information;
  const ScoreMaximum found = maximum_from(fit, VectorXd{{1, -1}});
  ASSERT_EQ(found.undetermined.size(), 1u);
  EXPECT_NEAR(std::abs(found.undetermined[0].dot(VectorXd{{1, -1}})) / std::sqrt(2.0), 1, 0.02);
  EXPECT_EQ(found.whitening.cols(), 1);
  const VectorXd sum = VectorXd::Ones(2);  // its standard error is 1/2
  tests::expect_close({found.u.sum(), std::sqrt(sum.dot(found.u_error * sum))}, fit.top.sum(), 0.021);
}

TEST(Newton, PointsWithoutAScoreAreTakenNearer) {
  SyntheticFit fit;
  const auto known = fit.chains->score;
  const auto within = [&](double reach) {
    return [=](const VectorXd& u, int level, double law) {
      if (u[0] > reach) throw NumericalError("nothing here");
      return known(u, level, law);
    };
  };
  fit.chains->score = within(1.6);  // one standard error is 0.59
  EXPECT_TRUE(maximum_from(fit, VectorXd{{1.4, -0.4}}).converged);
  fit.chains->score = within(1.41);
  EXPECT_THROW(maximum_from(fit, VectorXd{{1.4, -0.4}}), NumericalError);
}

// From 24 seeds, as above. Scores are b 2^-l + c/N too large, so that the maximum at (l, N) is I⁻¹(b 2^-l + c/N) too
// far; 8 chains of 64 iterations know a score to √(noise/512).
TEST(Biases, AreWhatStepsAndLawLeave) {
  SyntheticFit fit;
  const VectorXd b{{80, -40}}, c{{1500, 1000}};
  fit.chains->score = [&](const VectorXd& u, int level, double law) {
    return VectorXd(fit.information * (fit.top - u) + b * std::ldexp(1.0, -level) + c / law);
  };
  constexpr int kLevel = 5;
  ScoreMaximum maximum;
  maximum.information = fit.information;
  maximum.whitening = MatrixXd(fit.covariance().llt().matrixL());
  Place place = place_at(fit.top + fit.covariance() * (b * std::ldexp(1.0, -kLevel) + c / 200), kLevel);
  place.chain.law_particles = 200;
  const MatrixXd score_error = fit.chains->noise / (8.0 * 64);
  const MatrixXd error = fit.covariance() * score_error * fit.covariance();
  double time = 0, law = 0, ratio = 0;
  constexpr int kSeeds = 24;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Workbench bench = fit.bench(seed);
    const Biases found = biases(bench, "bias ", place, maximum, std::nullopt, MatrixXd::Zero(2, 2), 8 * 64);
    ASSERT_TRUE(found.discretisation.known && found.law.known);
    const VectorXd dt = found.discretisation.shift + fit.covariance() * b * std::ldexp(1.0, -kLevel);
    const VectorXd dn = found.law.shift + fit.covariance() * c / 200;
    time += dt.dot(error.inverse() * dt) * 9, law += dn.dot(error.inverse() * dn) * 9 / 2;
    ratio += std::pow(found.discretisation.error[0], 2) / (error(0, 0) / 9) / kSeeds;
    ratio += std::pow(found.law.error[1], 2) / (2 * error(1, 1) / 9) / kSeeds;
  }
  for (const double squares : {time, law}) {
    EXPECT_GT(squares, kLeastSquares);
    EXPECT_LT(squares, kMostSquares);
  }
  EXPECT_NEAR(ratio / 2, 1, 4 * std::sqrt(2.0 / 7 / kSeeds));  // variances from 8 chains
}

Pilot explored(SyntheticFit& fit, PilotOptions options = {}, std::uint64_t seed = 1) {
  Workbench bench = fit.bench(seed);
  options.chain.start = {4, 3};
  return explore(bench, "", options);
}

// Noise of 5 units of information in each iteration: n0 is about that, or what the noisiest direction seems to have in
// the spread of few chains.
TEST(Pilot, ClimbsFromAPoorStartAndPlans) {
  double squares = 0, n0 = 0;
  int finer = 0;
  constexpr int kSeeds = 24;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SyntheticFit fit;
    const Pilot found = explored(fit, {}, seed);
    EXPECT_TRUE(found.arrived && found.maximum.converged && found.findings.empty());
    EXPECT_EQ(found.fixed, (std::vector<bool>{false, false}));
    EXPECT_EQ(found.plan.lowest, found.plan.highest);
    finer += found.plan.highest - 3;
    const VectorXd d = found.plan.centre - fit.top;
    squares += d.dot(found.maximum.u_error.inverse() * d);
    for (Index p = 0; p < 2; ++p)
      EXPECT_LE(std::sqrt(found.maximum.u_error(p, p)), 0.28 * std::sqrt(fit.covariance()(p, p)));
    const StratifiedPlan& plan = found.plan;
    n0 += plan.chains.at(0).step.n0 / kSeeds;
    EXPECT_EQ(plan.lengths.at(0), static_cast<std::size_t>(std::ceil(5 * plan.chains[0].step.n0)));
    EXPECT_LT((plan.chains[0].precondition - fit.covariance()).norm(), 0.2 * fit.covariance().norm());
  }
  EXPECT_GT(squares, kLeastSquares);
  EXPECT_LT(squares, kMostSquares);
  EXPECT_LE(finer, 2);  // by mistake
  EXPECT_GT(n0, 5);
  EXPECT_LT(n0, 8);
}

TEST(Pilot, TakesParticlesUntilPathsAreRenewed) {
  SyntheticFit fit;
  fit.chains->renewal_scale = 100;  // 16, 32, 64 particles renew 15, 27, 47 %
  explored(fit);
  EXPECT_NE(fit.listener.heard.find("\n64 particles (every point of a path is renewed in at least 47 %"),
            std::string::npos)
      << fit.listener.heard;
}

TEST(Pilot, TakesFinerStepsWhileTheyMoveTheMaximum) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SyntheticFit fit;
    // At level 3 the maximum is 0.8 standard errors off in the first parameter, at level 6 a tenth.
    const VectorXd away{{0.8 * std::sqrt(fit.covariance()(0, 0)), 0}};
    const auto known = fit.chains->score;
    fit.chains->score = [&](const VectorXd& u, int level, double law) {
      return VectorXd(known(u, level, law) + fit.information * away * std::ldexp(1.0, 3 - level));
    };
    const Pilot found = explored(fit, {}, seed);
    EXPECT_GE(found.plan.highest, 6);
    EXPECT_LE(found.plan.highest, 8);
    const VectorXd want = fit.top + away * std::ldexp(1.0, 3 - found.plan.highest);
    for (Index p = 0; p < 2; ++p)
      tests::expect_close({found.plan.centre[p], std::sqrt(found.maximum.u_error(p, p))}, want[p],
                          0.3 * std::sqrt(fit.covariance()(p, p)));
  }
}

// The largest number of which the bias was looked at. With 256 the maximum is so many standard errors off; what is left
// with 4096 is an eighth.
TEST(Pilot, TakesALargerLawWhileThatMovesTheMaximum) {
  const auto law_for = [](double off) {
    SyntheticFit fit;
    const VectorXd away{{off * std::sqrt(fit.covariance()(0, 0)), 0}};
    const auto known = fit.chains->score;
    fit.chains->score = [&](const VectorXd& u, int level, double law) {
      return VectorXd(known(u, level, law) + fit.information * away * 256 / law);
    };
    explored(fit);
    const std::string &heard = fit.listener.heard, words = "with more than ";
    return std::stoi(heard.substr(heard.rfind(words) + words.size()));
  };
  EXPECT_LE(law_for(0), 256);
  EXPECT_GE(law_for(2), 4096);
}

TEST(Ascent, GoesToALevelAtWhichNothingExplodes) {
  SyntheticFit fit;
  fit.chains->least_level = 5;
  Workbench bench = fit.bench();
  ChainOptions chain;
  chain.start = {4, 3};
  const Ascent found = climb(bench, "ascent", chain, 3, 10, {true, true});
  EXPECT_TRUE(found.arrived);
  EXPECT_EQ(found.level, 5);
  EXPECT_LT((found.u - fit.top).norm(), 1.0) << found.u;
  EXPECT_THROW(climb(bench, "again", chain, 3, 4, {true, true}), NumericalError);
}

TEST(Ascent, MovesOnlyWhatIsFree) {
  SyntheticFit fit;
  Workbench bench = fit.bench();
  ChainOptions chain;
  chain.start = {4, 3};
  const Ascent found = climb(bench, "ascent", chain, 3, 3, {true, false});
  EXPECT_TRUE(found.arrived);
  EXPECT_NEAR(found.u[1], 3, 1e-12);
  EXPECT_EQ(found.fixed, (std::vector<bool>{false, false}));
}
}  // namespace
}  // namespace mckean
