// Vector models written out component by component.
#include "model/lower.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace mckean {
namespace {

// A scalar model to add to: state s with unit noise, observed as y.
struct Spec : ModelSpec {
  Spec() : ModelSpec("test") {}
  Model finish() {
    for (const auto& s : states) {
      bool drifts_already = false, noisy_already = false;
      for (const auto& [key, e] : drifts) drifts_already = drifts_already || key == s.name;
      for (const auto& [key, e] : diffusions) noisy_already = noisy_already || key == s.name;
      if (!drifts_already) drift(s.name, number(0));
      if (!noisy_already) diffusion(s.name, number(1));
    }
    if (observations.empty()) observe("y", {Distribution::normal, {number(0), number(1)}, {}});
    return Model(std::move(*this));
  }
  Expr part(const std::string& vector, int i) { return graph->symbol({Kind::state, vector, i}); }
  Expr constant_part(const std::string& vector, int i) { return graph->symbol({Kind::constant, vector, i}); }
};

std::string message_of(Spec& spec) {
  try {
    spec.finish();
  } catch (const SpecError& e) {
    return e.section + ": " + e.what();
  }
  return "accepted";
}

TEST(LowerTest, VectorsActComponentByComponent) {
  Spec spec;
  const Expr x = spec.vector_state("x", {1, 2, 3}, {0, 0, 0.5}), theta = spec.parameter({"theta", 1});
  const Expr c = spec.vector_constant("c", {5, 7, 11}), k = spec.constant("k", 2);
  spec.drift("x", theta * sin(x) + k * c);
  const Expr parts[] = {spec.part("x", 0), spec.part("x", 1), spec.part("x", 2)};
  const Model m = spec.finish();
  ASSERT_EQ(m.dimension(), 3u);
  const double added[] = {10, 14, 22};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(m.components()[i].symbol, parts[i]);
    EXPECT_EQ(m.components()[i].drift, theta * sin(parts[i]) + added[i]);
    EXPECT_EQ(m.components()[i].name, "x[" + std::to_string(i + 1) + "]");
    EXPECT_EQ(m.components()[i].start, static_cast<double>(i + 1));
  }
  EXPECT_EQ(m.components()[2].start_sd, 0.5);
  EXPECT_TRUE(m.diagonal());
  EXPECT_EQ(m.noise_sources(), 3u);
}

TEST(LowerTest, MeanAndSumReduceOverComponents) {
  Spec spec;
  const Expr x = spec.vector_state("x", {0, 0, 0, 0}, {0, 0, 0, 0}), s = spec.state("s", 1);
  const Expr w = spec.vector_constant("w", {1, 2, 3, 4});
  spec.drift("x", x - mean(x) * s);
  spec.drift("s", sum(w * pow(x, 2)) + mean(w) + sum(x - mean(x)) + sum(s));
  const Model m = spec.finish();
  std::unordered_map<std::uint32_t, double> at{{s.id(), 3.0}};
  const double v[] = {0.5, -1, 2, 0.25}, average = 1.75 / 4;
  for (std::size_t i = 0; i < 4; ++i) at[m.components()[i].symbol.id()] = v[i];
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(evaluate(m.components()[i].drift, at), v[i] - 3 * average, 1e-15);
  const double squares = 0.25 + 2 + 3 * 4 + 4 * 0.0625;
  EXPECT_NEAR(evaluate(m.components()[4].drift, at), squares + 2.5 + 0 + 3, 1e-14);
}

TEST(LowerTest, ComponentsAreReachedByIndex) {
  Spec spec;
  spec.vector_state("x", {0, 0}, {0, 0});
  const Expr s = spec.state("s", 1), first = spec.part("x", 0), second = spec.part("x", 1);
  spec.vector_constant("c", {5, 7});
  spec.drift("s", first * spec.constant_part("c", 1) + second);
  spec.drift("x", second - s);
  const Model m = spec.finish();
  EXPECT_EQ(m.components()[2].drift, first * 7.0 + second);
  EXPECT_EQ(m.components()[0].drift, second - s);
  EXPECT_EQ(m.components()[1].drift, second - s);
}

TEST(LowerTest, VectorsOfSizeOneAreScalars) {
  Spec spec;
  const Expr x = spec.vector_state("x", {2}, {0}), c = spec.vector_constant("c", {3});
  const Expr s = spec.vector_state("s", {0, 0}, {0, 0});
  const Expr pull = spec.interaction("pull", mean(other(x)) - x);
  spec.drift("x", c * x + mean(x) + sum(x) + pull);
  spec.drift("s", s * x + c);
  const Model m = spec.finish();
  EXPECT_EQ(m.components()[0].name, "x");
  EXPECT_EQ(m.components()[0].symbol, x);
  EXPECT_EQ(m.components()[0].drift, 3.0 * x + x + x + pull);
  EXPECT_EQ(m.components()[2].drift, m.components()[2].symbol * x + 3.0);
  EXPECT_EQ(m.interactions().size(), 1u);
  EXPECT_EQ(m.interactions()[0].kernel, other(x) - x);
}

TEST(LowerTest, FilesMayIndexVectorsOfSizeOne) {
  const Model m = parse_model(R"toml(name = "one"
[state]
x = { size = 1, start = 2 }
[constants]
c = [3]
[interaction]
pull = "x'[1] - x[1]"
[drift]
x = "c[1]*x[1] + pull + mean(x)"
[diffusion]
x = 1
[observation]
y = "normal(x[1], 1)"
)toml",
                              "one.toml");
  const Expr x = m.components()[0].symbol;
  EXPECT_EQ(m.interactions()[0].kernel, other(x) - x);
  EXPECT_EQ(m.components()[0].drift, 3.0 * x + m.interactions()[0].symbol + x);
}

TEST(LowerTest, InteractionsHaveTheSizeOfTheirKernel) {
  Spec spec;
  const Expr x = spec.vector_state("x", {0, 0}, {0, 0}), s = spec.state("s", 1);
  const Expr pull = spec.interaction("pull", sin(x - other(x))), all = spec.interaction("all", mean(other(x)) * s);
  spec.drift("x", pull + all);
  spec.drift("s", sum(pull) - all);
  const Model m = spec.finish();
  ASSERT_EQ(m.interactions().size(), 3u);
  const Expr a = m.components()[0].symbol, b = m.components()[1].symbol;
  EXPECT_EQ(m.interactions()[0].name, "pull[1]");
  EXPECT_EQ(m.interactions()[1].kernel, sin(b - other(b)));
  EXPECT_EQ(m.interactions()[2].kernel, (other(a) + other(b)) / 2.0 * s);
  EXPECT_EQ(m.components()[1].drift, m.interactions()[1].symbol + all);
  EXPECT_EQ(m.components()[2].drift, m.interactions()[0].symbol + m.interactions()[1].symbol - all);
}

TEST(LowerTest, ObservationsAreColumns) {
  Spec spec;
  const Expr x = spec.vector_state("x", {0, 0}, {0, 0}), y = spec.observed("y"),
             tau = spec.vector_constant("tau", {2, 4});
  spec.observe("y", {Distribution::custom, {}, -pow((y - x) / tau, 2)});
  spec.observe("z", {Distribution::normal, {mean(x), spec.number(1)}, {}});
  const Model m = spec.finish();
  EXPECT_EQ(m.columns(), (std::vector<std::string>{"y[1]", "y[2]", "z"}));
  const auto& second = m.observed()[1];
  EXPECT_EQ(second.log_density, -pow((second.symbol - m.components()[1].symbol) / 4.0, 2));
  EXPECT_EQ(m.observed()[2].arguments[0], (m.components()[0].symbol + m.components()[1].symbol) / 2.0);
}

TEST(LowerTest, NoiseMatricesDropWhatNothingFeels) {
  Spec spec;
  spec.vector_state("x", {0, 0}, {0, 0});
  spec.state("s", 1);
  const Expr zero = spec.number(0), one = spec.number(1), half = spec.number(0.5);
  spec.diffusion_rows("x", {{one, zero, zero}, {half, zero, one}});
  spec.diffusion("s", zero);
  const Model m = spec.finish();
  EXPECT_EQ(m.noise_sources(), 2u);
  EXPECT_FALSE(m.diagonal());
  EXPECT_EQ(m.components()[1].diffusion, (std::vector{half, one}));
  EXPECT_FALSE(m.components()[2].noisy);
}

TEST(LowerTest, SizesThatDoNotFitAreRefused) {
  {
    Spec spec;
    const Expr x = spec.vector_state("x", {0, 0}, {0, 0}), c = spec.vector_constant("c", {1, 2, 3});
    spec.drift("x", x + c);
    EXPECT_NE(message_of(spec).find("'x' has 2 components and 'c' has 3"), std::string::npos);
  }
  {
    Spec spec;
    const Expr x = spec.vector_state("x", {0, 0}, {0, 0});
    spec.state("s", 1);
    spec.drift("s", x);
    EXPECT_EQ(message_of(spec).substr(0, 5), "drift");
  }
  {
    Spec spec;
    const Expr x = spec.vector_state("x", {0, 0}, {0, 0}), c = spec.vector_constant("c", {1, 2, 3});
    spec.interaction("i", sum(x * c));
    EXPECT_EQ(message_of(spec).substr(0, 11), "interaction");
  }
}
}  // namespace
}  // namespace mckean
