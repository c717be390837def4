// The score of the diffusion by particles, without a word on steps or sizes, against exact engines in continuous time.
// What is claimed of the errors is what they are.
#include <gtest/gtest.h>

#include <cmath>

#include "infer/continuous.hpp"
#include "mckean/engine.hpp"
#include "mckean/score.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;

Model springs(const std::string& noise_of_x) {
  return parse_model(
      "[state]\nx = 0.5\nv = 0.2\n[parameters]\na = 0.8\nb = 0.5\n[interaction]\nm = \"x'\"\n[drift]\n"
      "x = \"v - 0.3*x\"\nv = \"-a*v - x + b*m\"\n[diffusion]\nx = " +
          noise_of_x + "\nv = 0.6\n[observation]\ny = \"normal(x, 0.3)\"\n",
      "springs.toml");
}

Data data() {
  return Data::of(std::vector<double>{1, 2, 3, 5, 6, 7, 8}, std::vector<double>{0.5, 1.1, 0.2, 0.9, 1.4, 0.3, -0.2});
}

DiffusionScore score(const Problem& problem, const DiffusionScoreOptions& options) {
  ThreadRunner runner(all_cores());
  return diffusion_score(problem, problem.model().start_values(), options, runner);
}

// Over 8 seeds, parameter by parameter in square roots of the information: errors within the tolerance in root mean
// square; their spread what the standard errors say, within a factor of 2 (χ² of 7 degrees of freedom leaves it in 2 %
// of cases, here seeds are fixed).
void expect_right(const Model& model, const char* exact_engine) {
  const Problem problem(model, data());
  ThreadRunner runner(all_cores());
  const auto engine = make_engine(exact_engine, problem);
  const std::vector<double> exact =
      in_continuous_time(*engine, model.start_values(), Order::information, runner).gradient;
  const std::size_t parameters = exact.size();
  constexpr std::uint64_t kSeeds = 8;
  constexpr double kTolerance = 0.3;
  std::vector<std::vector<double>> off(parameters);
  std::vector<double> claimed(parameters);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const DiffusionScore found = score(problem, {.tolerance = kTolerance, .seed = seed});
    EXPECT_TRUE(found.reached);
    EXPECT_LE(found.draws, kTolerance / 2);
    for (std::size_t p = 0; p < parameters; ++p) {
      off[p].push_back((found.estimate.value[p] - exact[p]) / found.units[p]);
      claimed[p] += std::pow(found.estimate.se[p] / found.units[p], 2) / kSeeds;
    }
  }
  for (std::size_t p = 0; p < parameters; ++p) {
    const tests::Estimate mean = tests::mean_of(off[p]);
    EXPECT_LT(std::sqrt(mean.value * mean.value + mean.se * mean.se * (kSeeds - 1)), kTolerance) << p;
    const double ratio = mean.se * std::sqrt(kSeeds) / std::sqrt(claimed[p]);
    EXPECT_GT(ratio, 0.5) << p;
    EXPECT_LT(ratio, 2) << p;
  }
}

TEST(DiffusionScore, OfALinearModelOfTwoDimensions) { expect_right(springs("0.3"), "kalman"); }

TEST(DiffusionScore, OfALinearModelOfOneDimension) {
  expect_right(
      parse_model("[state]\nx = \"normal(0.5, 0.4)\"\n[parameters]\na = 0.8\nb = 0.5\nmu = 0.4\n[interaction]\n"
                  "m = \"x'\"\n[drift]\nx = \"a*(mu - x) + b*(m - x)\"\n[diffusion]\nx = 0.5\n[observation]\n"
                  "y = \"normal(x, 0.3)\"\n",
                  "line.toml"),
      "kalman");
}

Model attracted(const std::string& kernel) {
  return parse_model("[state]\nx = \"normal(0.3, 0.4)\"\n[parameters]\na = 0.5\n[interaction]\nk = \"" + kernel +
                         "\"\n[drift]\nx = \"0.2 - a*x + 0.8*k\"\n[diffusion]\nx = 0.5\n[observation]\n"
                         "y = \"normal(x, 0.3)\"\n",
                     "attracted.toml");
}

TEST(DiffusionScore, OfANonlinearModel) { expect_right(attracted("sin(x' - x)"), "quadrature"); }

// On windows that the later stages of a step must not leave.
TEST(DiffusionScore, OfAveragesByExpansions) {
  const Problem problem(attracted("tanh(x' - x)"), data());
  const std::vector<double> theta = problem.model().start_values();
  ThreadRunner runner(all_cores());
  const double exact =
      in_continuous_time(*make_engine("quadrature", problem), theta, Order::information, runner).gradient[0];
  const DiffusionScore found = score(problem, {.tolerance = 0.3});
  tests::expect_close({found.estimate.value[0], found.estimate.se[0]}, exact, 0.15 * found.units[0]);
}

TEST(DiffusionScore, ThereIsOneWhereNoNoiselessComponentMovesWithAParameter) {
  EXPECT_TRUE(has_diffusion_score({springs("0.3"), data()}));
  EXPECT_FALSE(has_diffusion_score({springs("0"), data()}));  // x = ∫ v, and v has parameters
  const Model apart = parse_model(
      "[state]\nx = 0\nv = 0\n[parameters]\nc = 1\n[drift]\nx = \"v\"\nv = \"-x\"\n[diffusion]\nx = 0\nv = 1\n"
      "[observation]\ny = \"normal(c*x, 0.3)\"\n",
      "apart.toml");
  EXPECT_TRUE(has_diffusion_score({apart, data()}));
}

TEST(DiffusionScore, AToleranceThatCannotBeMetIsNot) {
  const DiffusionScore found = score({springs("0.3"), data()}, {.tolerance = 0.001, .most_work = 1e7});
  EXPECT_FALSE(found.reached);
  EXPECT_GT(found.draws, 0.0005);
}

TEST(DiffusionScore, MoreThanOneThreadMakesNoDifference) {
  const Problem problem(springs("0.3"), data());
  ThreadRunner one(1), two(2);
  const std::vector<double> theta = problem.model().start_values();
  const auto a = diffusion_score(problem, theta, {.tolerance = 0.5}, one),
             b = diffusion_score(problem, theta, {.tolerance = 0.5}, two);
  EXPECT_EQ(a.estimate.value, b.estimate.value);
  EXPECT_EQ(a.estimate.se, b.estimate.se);
}
}  // namespace
