// The drift written with moments of the law equals the drift with interactions averaged over all pairs.
#include "step/mean_field.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "law/expander.hpp"

namespace mckean {
namespace {

constexpr std::size_t kPoints = 9;
using At = std::unordered_map<std::uint32_t, double>;

Model model_with(const std::string& kernel, const std::string& drift = "theta*pull - x") {
  return parse_model(fmt::format(R"toml(name = "test"
[state]
x = 0
v = 0.5
[parameters]
theta = 0.7
a = 1.3
[interaction]
pull = "{}"
more = "sin(x - x')*v'"
[drift]
x = "{}"
v = "more - v + a*pull"
[diffusion]
x = 1
v = 1
[observation]
y = "normal(x, 1)"
)toml",
                                 kernel, drift),
                     "test.toml")
      .copy();  // for derivatives
}

// A small cloud of particles, the parameters and the time.
class MeanFieldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(8);
    std::normal_distribution<double> normal(0.3, 0.8);
    for (auto& p : cloud)
      for (double& c : p) c = normal(random);
  }

  At at(const Model& m, std::size_t particle) const {
    At values{{m.time().id(), 0.4}};
    for (std::size_t p = 0; p < theta.size(); ++p) values[m.parameter_symbols()[p].id()] = theta[p];
    for (std::size_t c = 0; c < 2; ++c) values[m.components()[c].symbol.id()] = cloud[particle][c];
    return values;
  }

  // a(x, ξ̄) with ξ̄ = mean_j ξ(x, x_j), as it is defined.
  double pairwise_drift(const Model& m, std::size_t component, std::size_t particle) const {
    At values = at(m, particle);
    for (const auto& i : m.interactions()) {
      double mean = 0;
      for (const auto& p : cloud) {
        for (std::size_t c = 0; c < 2; ++c) values[other(m.components()[c].symbol).id()] = p[c];
        mean += evaluate(i.kernel, values) / kPoints;
      }
      values[i.symbol.id()] = mean;
    }
    return evaluate(m.components()[component].drift, values);
  }

  // mean ψ_r(X) at given windows.
  std::vector<double> moments(const Model& m, const std::vector<Expr>& psi, const At& inputs) const {
    std::vector<double> means(psi.size());
    for (std::size_t j = 0; j < kPoints; ++j) {
      At values = at(m, j);
      values.insert(inputs.begin(), inputs.end());
      for (std::size_t r = 0; r < psi.size(); ++r) means[r] += evaluate(psi[r], values) / kPoints;
    }
    return means;
  }

  std::array<std::array<double, 2>, kPoints> cloud{};
  std::vector<double> theta{0.7, 1.3};
};

const char* const kExact[] = {
    "sin(x - x')",         "x' - x",       "(x - x')^3",     "exp(theta*(x - x'))", "(v' - v)*(x - x')^2",
    "cos(2*x + a*x' + v)", "x'/(1 + x^2)", "sinh(x - v')*t", "x + theta",           "2",
    "x'^2 - x*v'"};

TEST_F(MeanFieldTest, ExactMomentsGiveThePairwiseDrift) {
  for (const char* kernel : kExact) {
    const Model m = model_with(kernel);
    const MeanField field(m, 0);
    ASSERT_EQ(field.methods[0], Method::exact) << kernel;
    EXPECT_EQ(field.exact, field.moments.size());
    ASSERT_EQ(field.inputs.size(), field.moments.size());
    EXPECT_TRUE(field.pairwise.empty() && field.windows.empty());
    const std::vector<double> means = moments(m, field.moments, {});
    for (std::size_t i = 0; i < kPoints; ++i) {
      At values = at(m, i);
      for (std::size_t r = 0; r < means.size(); ++r) values[field.inputs[r].id()] = means[r];
      for (std::size_t c = 0; c < 2; ++c)
        EXPECT_NEAR(evaluate(substitute(m.components()[c].drift, field.replace), values), pairwise_drift(m, c, i),
                    1e-12 * std::max(1.0, std::abs(pairwise_drift(m, c, i))))
            << kernel;
    }
  }
}

TEST_F(MeanFieldTest, RanksAndSharedMoments) {
  EXPECT_EQ(MeanField(model_with("sin(x - x')"), 0).ranks, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(MeanField(model_with("x' - x"), 0).ranks[0], 1u);  // the mean of 1 is known
  EXPECT_EQ(MeanField(model_with("x + theta"), 0).ranks[0], 0u);
  EXPECT_EQ(MeanField(model_with("cos(x - x')*v'"), 0).moments.size(), 2u);  // those of sin(x − x') v' as well
}

TEST_F(MeanFieldTest, WithoutExpansionsTheRestIsPairwise) {
  const Model m = model_with("exp(-(x - x')^2)");
  const MeanField field(m, 0);
  EXPECT_EQ(field.methods, (std::vector{Method::pairwise, Method::exact}));
  ASSERT_EQ(field.pairwise.size(), 1u);
  EXPECT_EQ(field.pairwise[0].kernel, m.interactions()[0].kernel);
  EXPECT_EQ(field.replace.at(m.interactions()[0].symbol.id()), field.pairwise[0].column);
  EXPECT_EQ(MeanField(model_with("1/sqrt(1 + (x - x')^2 + (v - v')^2)"), 16).methods[0], Method::pairwise);
}

const char* const kSmooth[] = {"exp(-(x - x')^2/2)",
                               "theta*(v' - v)*exp(-a*(x - x')^2)",
                               "(1 + (x - x')^2)^-0.5",
                               "tanh(theta*x - v')",
                               "sin(x*x') + x'",
                               "x*v'*tanh(v - v')",
                               "exp(-(x - x')^2) + tanh(v - v')",
                               "exp(-(x - x')^2)*t"};

// The expansion itself is good to 1e-10 of the kernel; factors in front are of order one.
TEST_F(MeanFieldTest, ExpansionsGiveThePairwiseDriftAndItsParameterDerivative) {
  for (const char* kernel : kSmooth) {
    const Dynamics dynamics(model_with(kernel), 64, true);
    const Model& m = dynamics.model;
    const MeanField& field = dynamics.field;
    ASSERT_EQ(field.methods[0], Method::chebyshev) << kernel;
    ASSERT_EQ(dynamics.dynamic, (std::vector<std::size_t>{0, 1}));
    Expander expander(dynamics, kernels());
    expander.set_parameters(theta);

    std::vector<Range> windows;
    At inputs;
    for (const Window& w : field.windows) {
      double low = cloud[0][w.component], high = low;
      for (const auto& p : cloud) low = std::min(low, p[w.component]), high = std::max(high, p[w.component]);
      windows.push_back(window_for(low, high, 0.1));
      EXPECT_LE(windows.back().center - windows.back().half, low);
      EXPECT_GE(windows.back().center + windows.back().half, high);
      inputs[field.inputs[w.center_input].id()] = windows.back().center;
      inputs[field.inputs[w.center_input + 1].id()] = 1 / windows.back().half;
    }
    // Particles stand still: only what the parameters do to ψ moves the moments.
    std::vector<double> measured = moments(m, field.moments, inputs);
    for (std::size_t p = 0; p < 2; ++p)
      for (const double d :
           moments(m, differentiate(field.moments, {{m.parameter_symbols()[p].id(), m.graph().number(1)}}), inputs))
        measured.push_back(d);
    std::vector<double> values(field.inputs.size()), tangents(2 * values.size());
    ASSERT_EQ(expander.inputs(windows, measured, values, tangents), LawStatus::good);

    for (std::size_t c = 0; c < 2; ++c) {
      const Expr drift = substitute(m.components()[c].drift, field.replace);
      for (std::size_t p = 0; p < 2; ++p) {
        Substitution rate{{m.parameter_symbols()[p].id(), m.graph().number(1)}};
        for (std::size_t k = 0; k < values.size(); ++k)
          rate.emplace(field.inputs[k].id(), m.graph().number(tangents[p * values.size() + k]));
        const Expr slope = differentiate(drift, rate);
        for (std::size_t i = 0; i < kPoints; ++i) {
          At here = at(m, i);
          for (std::size_t k = 0; k < values.size(); ++k) here[field.inputs[k].id()] = values[k];
          EXPECT_NEAR(evaluate(drift, here), pairwise_drift(m, c, i), 1e-9) << kernel;
          const double h = 1e-4, middle = theta[p];
          theta[p] = middle + h;
          const double up = pairwise_drift(m, c, i);
          theta[p] = middle - h;
          const double want = (up - pairwise_drift(m, c, i)) / (2 * h);
          theta[p] = middle;
          EXPECT_NEAR(evaluate(slope, here), want, 1e-7) << kernel << " by parameter " << p;
        }
      }
    }
  }
}

TEST_F(MeanFieldTest, KernelsThatAreNotSmoothNeedMoreThanAnyRank) {
  for (const char* kernel : {"abs(x - x')", "exp(-1000*(x - x')^2)"}) {
    const Model m = model_with(kernel);
    const Dynamics dynamics(m, 32, false);
    Expander expander(dynamics, kernels());
    expander.set_parameters(theta);
    std::vector<double> values(dynamics.field.inputs.size());
    const std::vector<Range> windows(dynamics.field.windows.size(), window_for(-1, 1, 0));
    const std::vector<double> measured(dynamics.field.moments.size());
    EXPECT_EQ(expander.inputs(windows, measured, values, {}), LawStatus::rank_too_low) << kernel;
  }
}

// Wide enough, not much wider, and few in number: an expansion serves many steps.
TEST_F(MeanFieldTest, WindowsHoldTheirParticlesAndRepeat) {
  std::set<double> widths;
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 10000; ++i) {
    const double center = 100 * normal(random), half = std::exp(2 * normal(random)), margin = 0.1 * (i % 5);
    const Range r = window_for(center - half, center + half, margin);
    EXPECT_LE(r.center - r.half, center - half * (1 + 0.5 * margin) + 1e-12);
    EXPECT_GE(r.center + r.half, center + half * (1 + 0.5 * margin) - 1e-12);
    EXPECT_NEAR(std::remainder(r.center, r.half / 8), 0, 1e-9);
    widths.insert(r.half);
    EXPECT_LE(r.half, 2 * (1 + 0.5 * margin) * half * 16 / 15 + 1e-3 * 4);
  }
  EXPECT_LT(widths.size(), 150u);
  EXPECT_GT(window_for(2, 2, 0).half, 0);
}
}  // namespace
}  // namespace mckean
