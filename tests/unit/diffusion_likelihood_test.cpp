// How finely the likelihood of a diffusion is computed, on functions whose errors are known.
#include <gtest/gtest.h>

#include "infer/search/proposals.hpp"
#include "unit/synthetic_engine.hpp"

namespace mckean::search {
namespace {

// −50, with `steps` · 4^−level from the steps and `law`/N from the law.
Synthetic with_errors(double steps, double law) {
  Synthetic s;
  s.unknowns = {{"p", 1.0}};
  s.kind = Engine::LawKind::moments;
  s.value = [steps, law](auto, const Effort& e) -> std::optional<double> {
    return -50 + steps * std::pow(4.0, -e.level) + law / static_cast<double>(e.law_particles);
  };
  return s;
}

DiffusionLikelihood likelihood(Synthetic& s, const DiffusionOptions& options = {}) {
  return diffusion_likelihood(s, std::vector{1.0}, options, s.runner);
}

// 20 seeds: the root mean square of the error is below the tolerance, and so is what is left of steps and law.
TEST(DiffusionLikelihood, IsAsGoodAsAskedFor) {
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Synthetic s = with_errors(8, 400);
    const DiffusionLikelihood found = likelihood(s, {.seed = seed});
    EXPECT_TRUE(found.reached);
    EXPECT_GE(found.effort.level, 3);
    EXPECT_LE(found.effort.level, 6);
    EXPECT_LE(*found.average.summary.se, 0.06);
    squares += std::pow(found.average.summary.value + 50, 2) / 20;
  }
  EXPECT_LT(std::sqrt(squares), 0.1);
}

TEST(DiffusionLikelihood, LawsGrowWhereTheyMatter) {
  Synthetic s = with_errors(0, 20000);
  const DiffusionLikelihood found = likelihood(s);
  EXPECT_GE(found.effort.law_particles, 65536u);
  EXPECT_NEAR(found.average.summary.value, -50, 0.4);
  Synthetic none = with_errors(0, 20000);
  none.kind = Engine::LawKind::none;
  EXPECT_EQ(likelihood(none).effort.law_particles, 1024u);  // it is not read
}

TEST(DiffusionLikelihood, LevelsWithoutALikelihoodArePassedOver) {
  Synthetic s = with_errors(0, 0);
  const auto value = s.value;
  s.value = [value](auto theta, const Effort& e) { return e.level < 4 ? std::nullopt : value(theta, e); };
  EXPECT_GE(likelihood(s).effort.level, 4);
  s.value = [](auto, const Effort&) -> std::optional<double> { return {}; };
  EXPECT_THROW(likelihood(s), NumericalError);
}

TEST(DiffusionLikelihood, AtTheLimitOfWorkItSaysSo) {
  Synthetic s = with_errors(0, 0);
  s.noise = 1e5;
  const DiffusionLikelihood found = likelihood(s, {.most_work = 1e5});
  EXPECT_FALSE(found.reached);
  EXPECT_FALSE(found.steps);  // not known, which is not 0
}

TEST(DiffusionLikelihood, ParticlesLookAheadWhereThatIsBetter) {
  Synthetic s = with_errors(0, 0);
  s.noise = 1000, s.of_ahead = 0.02;
  EXPECT_TRUE(likelihood(s).effort.ahead);
  s.of_ahead = 2;  // noisier at three times the cost
  EXPECT_FALSE(likelihood(s).effort.ahead);
}

Effort best_proposal(const Synthetic& s, std::uint64_t seed = 1) {
  SerialRunner runner;
  FitObserver observer;
  Evaluations evaluate(s, runner, observer, seed);
  return with_best_proposal(evaluate, "here", {1.0}, {.level = 1, .particles = 256});
}

TEST(Proposals, TheLargestMeanOfEqualWorkWins) {
  Synthetic s = with_errors(0, 0);
  s.noise = 2000, s.of_ahead = 0.02;
  EXPECT_TRUE(best_proposal(s).ahead);
  EXPECT_EQ(best_proposal(s).particles, 256u);
  s.least_widening = 2;  // narrower ones err far downwards
  EXPECT_GE(best_proposal(s).widening, 2);
  s.of_ahead = 2;
  EXPECT_FALSE(best_proposal(s).ahead);
  s.of_ahead = 0;
  EXPECT_FALSE(best_proposal(s).ahead);
}

// Of five that are equally good one is the best by chance; only a gain is a reason to leave the model's own steps. Of
// 40 seeds the largest mean alone would choose 32.
TEST(Proposals, LuckIsNoReasonToLookAhead) {
  Synthetic s = with_errors(0, 0);
  s.noise = 256 * 0.36, s.of_ahead = 1 / s.cost_of_ahead;
  int ahead = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) ahead += best_proposal(s, seed).ahead ? 1 : 0;
  EXPECT_LE(ahead, 8);
}

// Values that are low and vary little are those of an aim with too light tails.
TEST(Proposals, ValuesThatAreLowAndVaryLittleAreNotBelieved) {
  Synthetic s = with_errors(0, 0);
  const auto value = s.value;
  s.value = [value](auto theta, const Effort& e) { return *value(theta, e) - (e.ahead ? 8 : 0); };
  s.noise = 256 * 27, s.of_ahead = 0.01;
  int ahead = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) ahead += best_proposal(s, seed).ahead ? 1 : 0;
  EXPECT_LE(ahead, 4);  // of 40 seeds; more than half where variances count in full
}

TEST(Proposals, QuietLikelihoodsAreLeftAsTheyAre) {
  Synthetic s = with_errors(0, 0);
  s.noise = 10, s.of_ahead = 0.001;
  EXPECT_FALSE(best_proposal(s).ahead);
}
}  // namespace
}  // namespace mckean::search
