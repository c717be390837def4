// Splitting steps: their order from the exact engines, which agree, and filters of particles against them, step for
// step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "mckean/engine.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "z_score.hpp"

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

Model one_dimensional(const std::string& interaction, const std::string& drift, const std::string& noise = "0.5") {
  return parse_model("[state]\nx = \"normal(0.5, 0.4)\"\n[parameters]\na = 0.8\nb = 0.5\n[interaction]\n" +
                         interaction + "\n[drift]\nx = \"" + drift + "\"\n[diffusion]\nx = \"" + noise +
                         "\"\n[observation]\ny = \"normal(x, 0.3)\"\n",
                     "one.toml");
}

// Gradient, then value.
std::vector<double> derivatives(const Engine& engine, const Request& request) {
  std::vector<double> start;
  for (const Parameter& p : engine.parameters()) start.push_back(p.start);
  const Outcome found = engine.at(start, Order::information, {}, request);
  if (!found) throw std::runtime_error(found.failure().message);
  std::vector<double> out = found->gradient;
  out.push_back(found->loglik);
  return out;
}

// Successive levels differ by a quarter of the difference before, in the value and in every derivative.
void expect_second_order(const Engine& engine, int lowest, int highest) {
  std::vector<std::vector<double>> at;
  for (int level = lowest; level <= highest; ++level) at.push_back(derivatives(engine, splitting(level)));
  const std::size_t last = at.size() - 1;
  for (std::size_t i = 0; i < at[0].size(); ++i) {
    for (std::size_t l = last - 2; l < last; ++l) {
      const double ratio = (at[l][i] - at[l - 1][i]) / (at[l + 1][i] - at[l][i]);
      EXPECT_NEAR(ratio, 4, 0.25) << "entry " << i << ", level " << l + static_cast<std::size_t>(lowest);
    }
    EXPECT_LT(std::abs(at[2][i] - at[last][i]), 0.02 * (1 + std::abs(at[last][i]))) << i;
  }
  if (!engine.continuous()) return;
  const double limit = derivatives(engine, {.effort = {.level = kContinuous}}).back();
  EXPECT_NEAR(at[last].back(), limit, std::abs(at[last].back() - at[last - 1].back()));
}

TEST(Splitting, IsOfSecondOrder) {
  for (const Model& model : {linear("m = \"x'\"", "-a*v - x + b*m", "0.3"), linear("m = \"v'\"", "a*m - v - b*x", "0"),
                             linear("m = \"x'\"", "a*sin(2*t) - b*v + 0.4*m*x - x", "\"0.3 + 0.1*cos(t)\""),
                             linear("s = \"(x' - a)^2\"", "0.5*s - b*v - x", "0.3")}) {
    SCOPED_TRACE(to_text(model.components()[1].drift));
    expect_second_order(*make_engine("kalman", {model, line_data()}), 0, 6);
  }
}

TEST(Splitting, IsOfSecondOrderByQuadrature) {
  for (const Model& model : {one_dimensional("m = \"x'\"", "a*(x - 0.2*x^3) + b*(m - x)"),
                             one_dimensional("s = \"sin(x' - x)\"", "a*s - b*x"),
                             one_dimensional("m = \"x'\"", "a*sin(2*t) - b*x*m", "0.4 + 0.1*cos(t)")}) {
    SCOPED_TRACE(to_text(model.components()[0].drift));
    expect_second_order(*make_engine("quadrature", {model, line_data()}), 2, 6);
  }
}

TEST(Splitting, QuadratureAgreesWithKalmanStepForStep) {
  for (const Model& model : {one_dimensional("m = \"x'\"", "a*(b - x) + 0.7*m"),
                             one_dimensional("m = \"(x' - b)^2\"", "a*sin(2*t) - b*x + 0.4*m", "0.4 + 0.1*cos(t)")}) {
    const Problem problem(model, line_data());
    const auto kalman = make_engine("kalman", problem), quadrature = make_engine("quadrature", problem);
    for (const int level : {0, 1, 3}) {
      const auto exact = derivatives(*kalman, splitting(level)), found = derivatives(*quadrature, splitting(level));
      for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found[i], exact[i], 1e-8 * (1 + std::abs(exact[i])));
    }
  }
}

// Two levels leave an error of fourth order in the step.
TEST(Splitting, LevelsAreExtrapolatedToTheDiffusion) {
  const Problem problem(one_dimensional("m = \"x'\"", "a*(b - x) + 0.7*m"), line_data());
  const auto limit = derivatives(*make_engine("kalman", problem), {.effort = {.level = kContinuous}});
  const auto quadrature = make_engine("quadrature", problem);
  for (const int level : {1, 2, 3}) {
    Request request = splitting(level);
    request.effort.extrapolated = true;
    const auto found = derivatives(*quadrature, request);
    for (std::size_t i = 0; i < limit.size(); ++i)
      EXPECT_NEAR(found[i], limit[i], 0.02 * std::pow(16.0, -level) * (1 + std::abs(limit[i]))) << level;
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
      std::vector<double> ratios;
      for (std::uint32_t r = 0; r < 1500; ++r)
        ratios.push_back(std::exp(particles->at(m.start_values(), Order::value, {3, r}, request)->loglik - exact));
      tests::expect_close(tests::mean_of(ratios), 1, 0.01, fmt::format("level {}", level));
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
    std::vector<double> ratios;
    for (std::uint32_t r = 0; r < 100; ++r)
      ratios.push_back(std::exp(particles->at(m.start_values(), Order::value, {5, r}, request)->loglik - exact));
    tests::expect_close(tests::mean_of(ratios), 1, 0.0056, fmt::format("level {}", level));
  }
}
}  // namespace
