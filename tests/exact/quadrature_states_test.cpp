// Smoothed states by quadrature: against Kalman's on a linear model, against chains of paths on one that is not.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/quadrature/quadrature_engine.hpp"
#include "mckean/smooth.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "run/thread_runner.hpp"

namespace {

using namespace mckean;

States states(const Engine& engine, const Model& model, int level) {
  const Request request{.effort = {.level = level}};
  return **engine.states(**engine.law(model.start_values(), {}, request), request);
}

// Missing values, irregular times, two series; quantiles are interpolated.
TEST(QuadratureStates, OfALinearModel) {
  const Model model = tests::shipped("mean-field-ou");
  const Data data{"two.csv",
                  model.columns(),
                  {{"a", {0.5, 1, 2.7, 4}, {0.3, oracle::missing, 1.8, 2.5}, {1, 2, 3, 4}},
                   {"b", {1, 3, 5}, {-0.4, 0.9, oracle::missing}, {5, 6, 7}}}};
  const Problem problem(model, data);
  for (const int level : {0, 3}) {
    const States found = states(QuadratureEngine(problem), model, level),
                 exact = states(*make_engine("kalman", problem), model, level);
    ASSERT_EQ(found.size(), 2U);
    for (std::size_t s = 0; s < 2; ++s) {
      ASSERT_EQ(found[s][0].size(), exact[s][0].size());
      for (std::size_t row = 0; row < exact[s][0].size(); ++row) {
        SCOPED_TRACE(testing::Message() << "level " << level << " series " << s << " row " << row);
        const Smoothed &a = found[s][0][row], &b = exact[s][0][row];
        EXPECT_NEAR(a.mean, b.mean, 1e-8);
        EXPECT_NEAR(a.sd, b.sd, 1e-8);
        EXPECT_NEAR(a.q05, b.q05, 1e-4 * b.sd);
        EXPECT_NEAR(a.q50, b.q50, 1e-4 * b.sd);
        EXPECT_NEAR(a.q95, b.q95, 1e-4 * b.sd);
      }
    }
  }
}

// Noise that depends on the state. 8 chains of 1500 paths have errors of about 0.01 standard deviations, with memory
// perhaps 0.03; 0.12 of them and 12 % are far beyond that.
TEST(QuadratureStates, AgreesWithChains) {
  const Model model = parse_model(
      "[state]\nx = 0.5\n[parameters]\nr = 0.9\n[interaction]\nm = \"x'\"\n[drift]\nx = \"r*x*(1 - x/1.4) + 0.3*x*(m - "
      "x)\"\n[diffusion]\nx = \"0.3*x\"\n[observation]\ny = \"normal(x, 0.2)\"\n",
      "logistic.toml");
  const Problem problem(model, oracle::unit_series({0.9, 1.1, 1.9, 0.8, 1.3}));
  const States exact = states(QuadratureEngine(problem), model, 3);
  ThreadRunner runner(1);
  const SmoothedStates paths = smooth(problem, model.start_values(),
                                      {.level = 3, .law_particles = "4000", .iterations = 1500, .seed = 3}, runner);
  for (std::size_t row = 0; row < 5; ++row) {
    SCOPED_TRACE(row);
    const Smoothed &a = exact[0][0][row], &b = paths.at[0][0][row];
    EXPECT_NEAR(a.mean, b.mean, 0.12 * a.sd);
    EXPECT_NEAR(b.sd / a.sd, 1, 0.12);
    EXPECT_NEAR(a.q05, b.q05, 0.2 * a.sd);
    EXPECT_NEAR(a.q95, b.q95, 0.2 * a.sd);
  }
}
}  // namespace
