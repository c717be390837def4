// Splitting steps: their order from the Kalman engine, and filters of particles against it, step for step.
#include <gtest/gtest.h>

#include <cmath>

#include "mckean/engine.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"

namespace {

using namespace mckean;

Request splitting(int level) { return {.effort = {.level = level, .scheme = Scheme::splitting}}; }

Model linear(const std::string& interaction, const std::string& drift, const std::string& noise) {
  return parse_model("[state]\nx = \"normal(0.5, 0.4)\"\nv = 0.2\n[parameters]\na = 0.8\nb = 0.5\n[interaction]\n" +
                         interaction + "\n[drift]\nx = \"v - 0.3*x\"\nv = \"" + drift +
                         "\"\n[diffusion]\nx = " + noise + "\nv = 0.6\n[observation]\ny = \"normal(x, 0.3)\"\n",
                     "linear.toml");
}

Data line_data() { return oracle::unit_series({0.5, 1.1, 0.2, oracle::missing, 0.9, 1.4}); }

// Successive levels differ by a quarter of the difference before, in the value and in every derivative.
TEST(Splitting, IsOfSecondOrder) {
  for (const Model& model : {linear("m = \"x'\"", "-a*v - x + b*m", "0.3"), linear("m = \"v'\"", "a*m - v - b*x", "0"),
                             linear("m = \"x'\"", "a*sin(2*t) - b*v + 0.4*m*x - x", "\"0.3 + 0.1*cos(t)\""),
                             linear("s = \"(x' - a)^2\"", "0.5*s - b*v - x", "0.3")}) {
    SCOPED_TRACE(to_text(model.components()[1].drift));
    const auto engine = make_engine("kalman", {model, line_data()});
    std::vector<std::vector<double>> at;
    for (int level = 0; level <= 6; ++level) {
      const Outcome found = engine->at(model.start_values(), Order::information, {}, splitting(level));
      ASSERT_TRUE(found) << found.failure().message;
      at.push_back(found->gradient);
      at.back().push_back(found->loglik);
    }
    for (std::size_t i = 0; i < at[0].size(); ++i) {
      for (std::size_t l = 4; l + 1 < at.size(); ++l) {
        const double ratio = (at[l][i] - at[l - 1][i]) / (at[l + 1][i] - at[l][i]);
        EXPECT_NEAR(ratio, 4, 0.2) << "entry " << i << ", level " << l;
      }
      EXPECT_LT(std::abs(at[2][i] - at[6][i]), 0.02 * (1 + std::abs(at[6][i]))) << i;
    }
    if (!engine->continuous()) continue;
    const Outcome limit = engine->at(model.start_values(), Order::value, {}, {.effort = {.level = kContinuous}});
    EXPECT_NEAR(at[6].back(), limit->loglik, std::abs(at[6].back() - at[5].back()));
  }
}

// E[p̂/p] = 1 within 4 standard errors of below 1 %: false alarms, 1 in 16000 for each of the six.
TEST(Splitting, FiltersOfParticlesAreUnbiased) {
  const Model model = linear("m = \"x'\"", "-a*v - b*x", "0.3"), kinetic = linear("m = \"x'\"", "-a*v - b*x", "0");
  for (const Model& m : {model, kinetic})
    for (const int level : {0, 1, 2}) {
      const Problem problem(m, line_data());
      const double exact =
          make_engine("kalman", problem)->at(m.start_values(), Order::value, {}, splitting(level))->loglik;
      const auto particles = make_engine("particles", problem);
      Request request = splitting(level);
      request.effort.particles = 256;
      double mean = 0, squares = 0;
      const std::uint32_t n = 1500;
      for (std::uint32_t r = 0; r < n; ++r) {
        const double ratio = std::exp(particles->at(m.start_values(), Order::value, {3, r}, request)->loglik - exact);
        mean += ratio / n, squares += ratio * ratio / n;
      }
      const double se = std::sqrt((squares - mean * mean) / n);
      EXPECT_LT(se, 0.01) << level;
      EXPECT_LT(std::abs(mean - 1), 4 * se) << level;
    }
}

// With an interaction the law's own error is O(1/N): with N = 16384 in pairs it is far below the bound.
TEST(Splitting, LawsOfParticlesEnterAtTheStages) {
  const Model m = linear("m = \"x'\"", "-a*v - x + 3*b*m", "0.3");
  const Problem problem(m, line_data());
  const auto kalman = make_engine("kalman", problem), particles = make_engine("particles", problem);
  for (const int level : {0, 1}) {
    const double exact = kalman->at(m.start_values(), Order::value, {}, splitting(level))->loglik;
    Request request = splitting(level);
    request.effort.particles = 4096, request.effort.law_particles = 16384;
    double mean = 0, squares = 0;
    const std::uint32_t n = 100;
    for (std::uint32_t r = 0; r < n; ++r) {
      const double ratio = std::exp(particles->at(m.start_values(), Order::value, {5, r}, request)->loglik - exact);
      mean += ratio / n, squares += ratio * ratio / n;
    }
    const double se = std::sqrt((squares - mean * mean) / n);
    EXPECT_LT(se, 0.01) << level;
    EXPECT_LT(std::abs(mean - 1), 4 * se) << level;
  }
}
}  // namespace
