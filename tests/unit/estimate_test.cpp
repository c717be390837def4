// Settings as formulas, step sizes, reprojection, and the probabilities of the final algorithm.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "mckean/simulate.hpp"
#include "models.hpp"
#include "paper/multilevel.hpp"

namespace {

using namespace mckean;

TEST(Rule, NumbersAndFormulas) {
  EXPECT_EQ(Rule("100", "M").at(3, 8, 50), 100u);
  EXPECT_EQ(Rule("l*L", "N").at(3, 8, 50), 24u);
  EXPECT_EQ(Rule("T", "M").at(3, 8, 50), 50u);
  EXPECT_EQ(Rule("max(T/4, 20)", "M").at(3, 8, 200), 50u);
  EXPECT_THROW(Rule("l*", "N"), InputError);
  EXPECT_THROW(Rule("x", "N"), InputError);
  EXPECT_THROW(Rule("l - 3", "N").at(3, 8, 50), InputError);
  EXPECT_THROW(Rule("1", "M").at(3, 8, 50, 2), InputError);
}

TEST(StepRule, FallsAsStated) {
  const StepRule rule{.gamma = 2, .n0 = 5, .rho = 0.6};
  EXPECT_DOUBLE_EQ(rule.at(1), 2 * std::pow(6, -0.6));
  EXPECT_DOUBLE_EQ(rule.at(100), 2 * std::pow(105, -0.6));
}

// Bounded parameters move in unconstrained coordinates; leaving a compact set returns to the start, and the set grows.
TEST(Iterate, MovesOnTheLineAndReturnsWhenItLeaves) {
  const Model model = parse_model(
      "[state]\nx = 0\n[parameters]\na = 1\nb = { start = 2, lower = 1 }\n[drift]\nx = \"a - b*x\"\n[diffusion]\nx = "
      "1\n"
      "[observation]\ny = \"normal(x, 1)\"\n",
      "two.toml");
  ChainOptions options;
  options.start = model.start_values();
  options.step = {.gamma = 1, .n0 = 0, .rho = 1};
  Iterate iterate(model, options);
  EXPECT_TRUE(iterate.move(1, std::vector{0.5, 2.0}));
  EXPECT_DOUBLE_EQ(iterate.theta()[0], 1.5);
  EXPECT_DOUBLE_EQ(iterate.theta()[1], 1 + std::exp(2.0));  // u = log(b − 1) = 0, du = H · db/du = 2 · 1
  EXPECT_FALSE(iterate.move(1, std::vector{1e3, 0.0}));
  EXPECT_EQ(iterate.reprojections(), 1u);
  EXPECT_EQ(iterate.theta(), model.start_values());
  EXPECT_TRUE(iterate.move(1, std::vector{30.0, 0.0}));  // outside the first set, inside the second
  try {
    for (int i = 0; i < 30; ++i) iterate.move(1, std::vector{1e12, 0.0});
    FAIL() << "left every set without a word";
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("compact sets"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("a = "), std::string::npos);
  }
}

// Where the Euler scheme explodes at the θ that a step led to, the chain returns to its start and goes on.
TEST(Chain, ReturnsFromParametersAtWhichTheDynamicsExplode) {
  const Model model = parse_model(
      "[state]\nx = 1\n[parameters]\ng = -1\n[interaction]\nm = \"x'\"\n[drift]\nx = \"g*x^3 + 0.1*m\"\n[diffusion]\nx "
      "= 0.5\n"
      "[observation]\ny = \"normal(x, 0.5)\"\n",
      "cubic.toml");
  std::vector<double> times(20);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i + 1);
  const Data data = simulate(model, model.start_values(), times, {.level = 4, .law_particles = 50});
  const ParticleProblem problem({model, data}, 2, 1);
  ChainOptions options;
  options.particles = 10, options.law_particles = 20;
  options.start = model.start_values();
  options.step.gamma = 1;  // far too long
  Chain chain(problem, options, {1, 0, 2});
  for (int n = 0; n < 15; ++n) chain.advance();
  EXPECT_GT(chain.reprojections(), 0u);
  EXPECT_TRUE(std::isfinite(chain.theta()[0]));
}

class FinalAlgorithm : public testing::Test {
 protected:
  FinalAlgorithm()
      : model(tests::shipped("kuramoto")),
        data(simulate(model, model.start_values(), std::vector{1.0, 2.0}, {.level = 1, .law_particles = 10})),
        problem({model, data}, 2, 1) {
    options.lowest = 1, options.highest = 3, options.most_p = 4;
    options.particles = Rule("4", "M"), options.law_particles = Rule("4", "N");
    options.chain.start = model.start_values();
    options.chain.step.gamma = 1e-6;
  }
  Model model;
  Data data;
  ParticleProblem problem;
  EstimatorOptions options;
};

TEST_F(FinalAlgorithm, ProbabilitiesAreThePapersCorrected) {
  const MultilevelEstimator estimator(problem, options);
  double levels = 0, lengths = 0;
  for (int l = 1; l <= 3; ++l) levels += estimator.level_probability(l);
  for (int p = 0; p <= 4; ++p) lengths += estimator.length_probability(p);
  EXPECT_NEAR(levels, 1, 1e-14);
  EXPECT_NEAR(lengths, 1, 1e-14);
  EXPECT_NEAR(estimator.level_probability(2) / estimator.level_probability(1), std::exp2(-0.25), 1e-14);
  EXPECT_NEAR(estimator.length_probability(2) / estimator.length_probability(0), 0.25 * 3 * std::pow(std::log2(4), 2),
              1e-13);
}

// Cells are drawn with these probabilities: chi-square of 15 cells over 6000 replicates; the 0.9999 quantile is 42.6.
TEST_F(FinalAlgorithm, CellsAreDrawnWithTheirProbabilitiesAndDividedByThem) {
  const MultilevelEstimator estimator(problem, options);
  std::map<std::pair<int, int>, int> counts;
  const int n = 6000;
  for (int r = 0; r < n; ++r) {
    const Replicate x = estimator(static_cast<std::uint32_t>(r));
    ++counts[{x.level, x.p}];
    EXPECT_NEAR(x.estimate[0] * estimator.level_probability(x.level) * estimator.length_probability(x.p),
                x.difference[0], 1e-12);
  }
  double chi = 0;
  for (int l = 1; l <= 3; ++l)
    for (int p = 0; p <= 4; ++p) {
      const double expected = n * estimator.level_probability(l) * estimator.length_probability(p);
      chi += std::pow(counts[{l, p}] - expected, 2) / expected;
    }
  EXPECT_LT(chi, 42.6);
}

// With steps of zero length θ stays: only the cell (l_min, 0) has anything to say, θ itself.
TEST_F(FinalAlgorithm, TelescopesToTheStartWhenNothingMoves) {
  options.chain.step.gamma = 0;
  const MultilevelEstimator estimator(problem, options);
  for (std::uint32_t r = 0; r < 300; ++r) {
    const Replicate x = estimator(r);
    EXPECT_NEAR(x.difference[0], x.level == 1 && x.p == 0 ? model.start_values()[0] : 0, 1e-15);
  }
}

TEST_F(FinalAlgorithm, CostIsCountedInParticleSteps) {
  options.kind = EstimatorOptions::Kind::single;
  options.highest = 2, options.iterations = 3;
  const Replicate x = MultilevelEstimator(problem, options)(0);
  // 2 units of 4 steps; first path: law 4 + 1 particle; each iteration: law 4, filter 4, score's law 4.
  EXPECT_EQ(x.particle_steps, 8u * (4 + 1) + 3 * 8u * (4 + 4 + 4));
}

TEST_F(FinalAlgorithm, BadFormulasAreRefused) {
  options.chain_length = Formula("3", "chain_length", {"p"});
  EXPECT_THROW(MultilevelEstimator(problem, options), InputError);
  options.chain_length = Formula("2^p", "chain_length", {"p"});
  options.length_weight = Formula("1 - p", "length_weight", {"p"});
  EXPECT_THROW(MultilevelEstimator(problem, options), InputError);
}
}  // namespace
