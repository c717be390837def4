// Filters that look ahead estimate the likelihood without bias, and well: against the Kalman filter and quadrature at
// the same Euler level.
#include <gtest/gtest.h>

#include <cmath>

#include "mckean/engine.hpp"
#include "mckean/simulate.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct Estimates {
  double exact = 0;
  tests::Estimate ratio;    // of p̂ to p
  double mean = 0, sd = 0;  // of log p̂
};

Estimates estimates(const Model& model, const Data& data, const char* exact, const Effort& effort,
                    std::uint32_t repeats) {
  const Problem problem(model, data);
  const std::vector<double> theta = model.start_values();
  const Request request{.effort = effort};
  Estimates out;
  out.exact = make_engine(exact, problem)->at(theta, Order::value, {}, request)->loglik;
  const auto engine = make_engine("particles", problem);
  const auto law = engine->law(theta, {}, request);
  std::vector<double> ratios;
  double log_squares = 0;
  for (std::uint32_t r = 0; r < repeats; ++r) {
    const Outcome found = engine->evaluate(**law, Order::value, {1, r}, request);
    EXPECT_TRUE(found) << found.failure().message;
    const double error = found->loglik - out.exact;
    ratios.push_back(std::exp(error));
    out.mean += error, log_squares += error * error;
  }
  out.ratio = tests::mean_of(ratios);
  out.mean /= repeats;
  out.sd = std::sqrt(log_squares / repeats - out.mean * out.mean);
  out.mean += out.exact;
  return out;
}

// False alarms, 1 in 16000.
void expect_unbiased(const Estimates& e, double most_se, const std::string& what) {
  tests::expect_close(e.ratio, 1, most_se, what);
}

// Two series at irregular times from 0 on, with missing values and a row of them.
Data gappy_data(const Model& model, std::uint64_t seed) {
  const std::vector<double> times{0, 0.5, 1, 1.7, 2.5, 3};
  Data data = simulate(model, model.start_values(), times, {.law_particles = 50, .series = 2, .seed = seed});
  const std::size_t width = data.columns.size();
  data.series[0].values[2 * width] = kMissing;
  for (std::size_t c = 0; c < width; ++c) data.series[1].values[3 * width + c] = kMissing;
  data.series[1].values[width - 1] = kMissing;
  return data;
}

Model linear(const std::string& text) { return parse_model(text, "linear.toml"); }

constexpr const char* kLine = R"toml(
[state]
x = "normal(0.5, 0.4)"
[parameters]
k = 0.8
[constants]
tau = 0.1
[drift]
x = "-k*x"
[diffusion]
x = 0.7
[observation]
y = "normal(x, tau)"
)toml";

// Position and velocity: the noise has half the state's dimension.
constexpr const char* kKinetic = R"toml(
[state]
x = "normal(1, 0.05)"
v = "normal(0, 0.1)"
[parameters]
k = 1.2
[constants]
tau = 0.05
[drift]
x = "v"
v = "-k*x - 0.4*v"
[diffusion]
x = 0
v = 0.6
[observation]
y = "normal(x, tau)"
)toml";

// Correlated noise, a component without any, a time-dependent drift, three numbers observed.
constexpr const char* kFive = R"toml(
[state]
a = "normal(0.2, 0.3)"
b = "normal(1, 0.3)"
c = 0.5
d = "normal(0, 0.2)"
e = 0
[parameters]
k = 0.9
[constants]
tau = 0.1
[drift]
a = "b - 0.3*a"
b = "k*(c - b) - 0.2*a + 0.5*sin(t)"
c = "0.5*(1 - c)"
d = "-d + 0.4*e"
e = "0.3*a - e"
[diffusion]
a = 0
b = [0, 0.7, 0.2, 0, 0]
c = [0, -0.3, 0.5, 0, 0]
d = [0, 0, 0.1, 0.4, 0]
e = [0, 0, 0, 0, 0.3]
[observation]
u = "normal(a + k*c, tau)"
v = "normal(b, 0.5)"
w = "normal(d - e, tau)"
)toml";

TEST(Ahead, UnbiasedForLinearModels) {
  struct Case {
    const char *name, *text;
    std::size_t particles;
    std::pair<double, double> most_se;
  };
  for (const Case& c : {Case{"line", kLine, 100, {0.0058, 0.01}}, Case{"kinetic", kKinetic, 700, {0.01, 0.01}},
                        Case{"five", kFive, 400, {0.0064, 0.01}}})
    for (const double widening : {1.0, 2.5}) {
      const Model model = linear(c.text);
      const Effort effort{.level = 2, .particles = c.particles, .ahead = true, .widening = widening};
      expect_unbiased(estimates(model, gappy_data(model, 3), "kalman", effort, 1500),
                      widening == 1 ? c.most_se.first : c.most_se.second,
                      c.name + std::string(", widened ") + std::to_string(widening));
    }
}

// A fifth of the particles, and less than a tenth of the error, of a filter with the model's own steps.
TEST(Ahead, PreciseObservations) {
  const Model model = parse_model(kKinetic, "kinetic.toml", {{"tau", 0.005}});
  std::vector<double> times;
  for (int t = 1; t <= 20; ++t) times.push_back(0.5 * t);
  const Data data = simulate(model, model.start_values(), times, {.level = 2, .law_particles = 50, .seed = 4});
  const Estimates plain = estimates(model, data, "kalman", {.level = 2, .particles = 500}, 50);
  const Estimates ahead =
      estimates(model, data, "kalman", {.level = 2, .particles = 100, .ahead = true, .widening = 1}, 50);
  EXPECT_LT(ahead.sd, 0.1 * plain.sd) << ahead.sd << " and " << plain.sd;
  EXPECT_NEAR(ahead.mean, ahead.exact, 0.3);
}

// G^β: the normal density with a variance of τ²/β, and a constant.
TEST(Ahead, TemperedObservations) {
  const Model model = linear(kLine);
  const Data data = gappy_data(model, 5);
  const Effort effort{.level = 2, .particles = 100, .temper = 0.2, .ahead = true};
  expect_unbiased(estimates(model, data, "kalman", effort, 1000), 0.0072, "tempered");
}

struct Curved {
  const char* observation;
  double precise, vague;  // tau
  double widening;
};

// The mean of log p̂ within 0.3 of the exact value.
TEST(Ahead, NonlinearModelsAndOtherDensities) {
  const Curved all[] = {{"y = \"normal(x, tau)\"", 0.02, 1, 1},
                        {"y = \"poisson(exp(x + tau))\"", 5, 1, 1},
                        {"y = \"negative_binomial(exp(x + tau), 5)\"", 4, 1, 1.5},
                        {"y = \"binomial(100, sigmoid(tau*x))\"", 3, 0.5, 2.5},
                        {"y = \"lognormal(x, tau)\"", 0.05, 1, 1},
                        {"y = \"student_t(3, x, tau)\"", 0.05, 1, 2.5},
                        {"y = \"normal(cos(3*x), tau)\"\nz = \"normal(sin(3*x), tau)\"", 0.05, 1, 1.5},
                        {"y = \"normal(cos(x), tau)\"\nz = \"normal(sin(x), tau)\"", 0.01, 0.05, 2.5}};
  for (const Curved& c : all)
    for (const double tau : {c.precise, c.vague}) {
      const Model model = parse_model(
          std::string("[state]\nx = \"normal(0.3, 0.4)\"\n[parameters]\nk = 1\n[constants]\ntau = 1\n[drift]\nx = "
                      "\"k*(x - x^3)\"\n[diffusion]\nx = 0.6\n[observation]\n") +
              c.observation,
          "curved.toml", {{"tau", tau}});
      std::vector<double> times;
      for (int t = 1; t <= 20; ++t) times.push_back(0.5 * t);
      const Data data = simulate(model, model.start_values(), times, {.level = 4, .law_particles = 50, .seed = 2});
      const Estimates e = estimates(model, data, "quadrature",
                                    {.level = 2, .particles = 256, .ahead = true, .widening = c.widening}, 60);
      EXPECT_NEAR(e.mean, e.exact, 0.3) << c.observation << ", tau = " << tau << ", sd " << e.sd;
    }
}

// A bare log density is aimed at through its curvature: here exactly, since it is a normal one.
TEST(Ahead, BareLogDensity) {
  const Model named = linear(kFive);
  std::string text = kFive;
  const std::string u = "u = \"normal(a + k*c, tau)\"";
  text.replace(text.find(u), u.size(),
               "u = { log_density = \"-0.5*((u - a - k*c)/tau)^2 - log(tau) - 0.91893853320467274\" }");
  const Model bare = linear(text);
  const Data data = gappy_data(named, 6);
  const Effort effort{.level = 1, .particles = 50, .ahead = true};
  const std::vector<double> theta = named.start_values();
  const auto one = make_engine("particles", {named, data})->at(theta, Order::value, {}, {.effort = effort});
  const auto other = make_engine("particles", {bare, data})->at(theta, Order::value, {}, {.effort = effort});
  ASSERT_TRUE(one && other);
  EXPECT_NEAR(one->loglik, other->loglik, 1e-6);
}
}  // namespace
