// The smoothed state of the diffusion by particles, without a word on steps or sizes, against the Kalman engine in
// continuous time. What is claimed of the errors is what they are: means are off by no more than the tolerance in root
// mean square, which one that neglected steps or trusted too few chains would exceed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mckean/engine.hpp"
#include "mckean/simulate.hpp"
#include "mckean/smooth.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"

namespace {

using namespace mckean;

// A pair of coupled springs, of which the position alone is seen.
Model springs(const std::string& noise_of_x, const std::string& tau) {
  return parse_model(
      "[state]\nx = 1\nv = 0\n[constants]\nk = 2\n[interaction]\nm = \"x'\"\n[drift]\nx = \"v\"\nv = "
      "\"-k*x - 0.5*v + 0.7*(m - x)\"\n[diffusion]\nx = \"" +
          noise_of_x + "\"\nv = 0.6\n[observation]\ny = \"normal(x, " + tau + ")\"\n",
      "springs.toml");
}

Data data_of(const Model& model) {
  std::vector<double> times;
  for (int k = 1; k <= 25; ++k) times.push_back(0.4 * k);
  return simulate(model, model.start_values(), times, {.level = 8, .law_particles = 500, .seed = 4});
}

// Root mean square over times of the difference of means, and of the logarithm of the ratio of spreads, of the worse
// component, in exact standard deviations.
struct Difference {
  double mean = 0, spread = 0;
};
Difference difference(const States& found, const States& exact) {
  Difference out;
  for (std::size_t c = 0; c < exact[0].size(); ++c) {
    double means = 0, spreads = 0;
    const auto rows = static_cast<double>(exact[0][c].size());
    for (std::size_t row = 0; row < exact[0][c].size(); ++row) {
      const Smoothed &a = found[0][c][row], &b = exact[0][c][row];
      means += std::pow((a.mean - b.mean) / b.sd, 2) / rows;
      spreads += std::pow(std::log(a.sd / b.sd), 2) / rows;
    }
    out.mean = std::max(out.mean, std::sqrt(means)), out.spread = std::max(out.spread, std::sqrt(spreads));
  }
  return out;
}

void expect_right(const Model& model, double tolerance) {
  const Problem problem(model, data_of(model));
  ThreadRunner runner(all_cores());
  const DiffusionSmoothing found =
      smooth_diffusion(problem, model.start_values(), {.tolerance = tolerance, .seed = 2}, runner);
  EXPECT_TRUE(found.reached);
  EXPECT_LE(found.draws, tolerance / 2);
  const auto engine = make_engine("kalman", problem);
  const auto exact = engine->states_at(model.start_values(), {.effort = {.level = kContinuous}});
  ASSERT_TRUE(exact);
  const Difference d = difference(found.states.at, *exact);
  EXPECT_LT(d.mean, tolerance);
  EXPECT_LT(d.spread, 2 * tolerance);
}

TEST(DiffusionSmoothing, OfVagueData) { expect_right(springs("0.3", "0.5"), 0.1); }

TEST(DiffusionSmoothing, OfPreciseData) { expect_right(springs("0.3", "0.01"), 0.1); }

TEST(DiffusionSmoothing, WithoutNoiseInThePosition) { expect_right(springs("0", "0.3"), 0.1); }

TEST(DiffusionSmoothing, AToleranceThatCannotBeMetIsNot) {
  const Model model = springs("0.3", "0.5");
  const Problem problem(model, data_of(model));
  ThreadRunner runner(all_cores());
  const DiffusionSmoothing found =
      smooth_diffusion(problem, model.start_values(), {.tolerance = 0.001, .most_work = 1e7}, runner);
  EXPECT_FALSE(found.reached);
  EXPECT_GT(found.draws, 0.0005);
}
}  // namespace
