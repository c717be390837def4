// Separation of interaction kernels: the terms add up to the kernel, and there are as few as expected.
#include "expr/separate.hpp"

#include <gtest/gtest.h>

#include <random>

#include "expr/parse.hpp"

namespace mckean::test {
namespace {

class SeparateTest : public ::testing::Test {
 protected:
  SeparateTest() {
    for (const char* name : {"x", "y", "v"}) {
      symbols.push_back(g.state(name));
      symbols.push_back(other(g.state(name)));
      scope.names[name] = {g.state(name), {}};
      scope.primed[name] = {other(g.state(name)), {}};
    }
    for (const char* name : {"theta", "a"}) {
      symbols.push_back(g.parameter(name));
      scope.names[name] = {symbols.back(), {}};
    }
    symbols.push_back(g.symbol({Kind::time, "t"}));
    scope.names["t"] = {symbols.back(), {}};
  }

  std::optional<std::vector<SeparatedTerm>> split(const std::string& text) {
    return separate(parse_expression(text, g, scope));
  }

  // Σ own·other·atom equals the kernel; the tolerance is relative to the terms, which may cancel.
  void expect_identity(const std::string& text, const std::vector<SeparatedTerm>& terms) {
    const Expr kernel = parse_expression(text, g, scope);
    std::mt19937_64 random(17);
    std::uniform_real_distribution<double> unit(-1.5, 1.5);
    for (int i = 0; i < 20; ++i) {
      std::unordered_map<std::uint32_t, double> at;
      for (const Expr s : symbols) at[s.id()] = unit(random);
      double sum = 0, size = 0;
      for (const auto& t : terms) {
        const double term = evaluate(t.own, at) * evaluate(t.other, at) * (t.atom ? evaluate(t.atom, at) : 1);
        sum += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(sum, evaluate(kernel, at), 1e-12 * std::max(size, 1e-3)) << text;
    }
    for (const auto& t : terms) {
      EXPECT_FALSE(t.own.has(Kind::other_state)) << to_text(t.own);
      EXPECT_FALSE(t.other.has(Kind::state)) << to_text(t.other);
      if (t.atom) {
        EXPECT_TRUE(t.atom.has(Kind::state) && t.atom.has(Kind::other_state)) << to_text(t.atom);
      }
    }
  }

  Graph g;
  std::vector<Expr> symbols;
  Scope scope;
};

TEST_F(SeparateTest, ExactKernelsAndTheirRank) {
  const std::pair<const char*, std::size_t> table[] = {
      {"sin(x - x')", 2},
      {"cos(x - x')", 2},
      {"sin(x' - x)", 2},
      {"x' - x", 2},
      {"x'", 1},
      {"x", 1},
      {"1", 1},
      {"theta", 1},
      {"x*x' + x'^2", 2},
      {"(x - x')^2", 3},
      {"(x - x')^3", 4},
      {"(x - x')^4", 5},
      {"exp(x - x')", 1},
      {"exp(theta*(x' - x))", 1},
      {"cos(2*x + 3*x' + theta)", 2},
      {"sin(theta*(x - x') + a)", 2},
      {"theta*sin(x - x') + a*cos(x - x')", 2},
      {"sinh(x + x')", 2},
      {"cosh(x - 2*x')", 2},
      {"theta*x'/(1 + x^2)", 1},
      {"x/(1 + x'^2)", 1},
      {"(x - x')*(y' - y)", 4},
      {"exp(x - x')*sin(x - x')", 2},
      {"1/exp(x - x')", 1},
      {"tanh(x)*tanh(x')", 1},
      {"log(1 + x^2) - log(1 + x'^2)", 2},
      {"min(x, y)*max(x', y')", 1},
      {"(x*x')^3", 1},
      {"(x*x')^-2", 1},
      {"sin(t*x - t*x')", 2},
      {"x'*t + theta", 1},
  };
  for (const auto& [text, rank] : table) {
    const auto terms = split(text);
    ASSERT_TRUE(terms) << text;
    EXPECT_EQ(terms->size(), rank) << text;
    for (const auto& t : *terms) EXPECT_FALSE(t.atom) << text;
    expect_identity(text, *terms);
  }
}

TEST_F(SeparateTest, ProductsAndSumsOfExactKernels) {
  const char* factors[] = {"sin(x - x')",        "cos(2*x + 3*x' + theta)", "exp(a*(x - x'))",     "(x - x')^2",
                           "sinh(y + theta*y')", "theta*x'/(1 + x^2)",      "(x - x')*(y' - y)^2", "cosh(v - v')"};
  for (const char* a : factors)
    for (const char* b : factors) {
      const std::string product = std::string("(") + a + ")*(" + b + ")", sum = std::string(a) + " - a*" + b;
      for (const auto& text : {product, sum}) {
        const auto terms = split(text);
        ASSERT_TRUE(terms) << text;
        for (const auto& t : *terms) EXPECT_FALSE(t.atom) << text;
        expect_identity(text, *terms);
      }
    }
}

// A constant moment needs no average: ψ = 1.
TEST_F(SeparateTest, WhatDependsOnOneParticleOnlyHasAConstantMoment) {
  for (const auto& [text, constants] : {std::pair{"x' - x", 1},
                                        {"x", 1},
                                        {"sin(x)*theta", 1},
                                        {"sin(x - x')", 0},
                                        {"x*y + x'", 1},
                                        {"(x - x')^2", 1}}) {
    const auto terms = split(text);
    ASSERT_TRUE(terms) << text;
    int found = 0;
    for (const auto& t : *terms) found += t.other.is_number();
    EXPECT_EQ(found, constants) << text;
  }
  EXPECT_TRUE(split("0")->empty());
  EXPECT_TRUE(split("(x - x')^2 - x^2 - x'^2 + 2*x*x'")->empty());
}

TEST_F(SeparateTest, WhatTheAlgebraCannotSplitIsAnAtom) {
  for (const char* text :
       {"exp(-(x - x')^2/2)", "abs(x - x')", "tanh(x - x')", "1/sqrt(1 + (x - x')^2)", "sin(x*x')",
        "theta*exp(-a*(x - x')^2)", "(x' - x)*exp(-(x - x')^2)", "(x - x')^theta", "exp(-(x - y')^2)", "max(x, x')",
        "1/(1 + (x - x')^2)", "if(x < x', 1, -1)", "exp(-(x - x')^2)*tanh(x - x')"}) {
    const auto terms = split(text);
    ASSERT_TRUE(terms) << text;
    ASSERT_EQ(terms->size(), 1u) << text;
    EXPECT_TRUE(terms->front().atom) << text;
    if (std::string(text) != "(x - x')^theta") expect_identity(text, *terms);
  }
}

TEST_F(SeparateTest, AtomsMayHaveFactorsOfOtherComponents) {
  for (const auto& [text, rank] : {std::pair{"(v' - v)*exp(-(x - x')^2/2)", 2u},
                                   {"v'*exp(-(x - x')^2/2) + sin(y - y')", 3u},
                                   {"theta*y*tanh(x - x') - t*v'", 2u},
                                   {"(v - v')^2*abs(x - x')", 3u},
                                   {"tanh(x - x') + tanh(y - y')", 2u},
                                   {"t*tanh(x - x')", 1u}}) {
    const auto terms = split(text);
    ASSERT_TRUE(terms) << text;
    EXPECT_EQ(terms->size(), rank) << text;
    expect_identity(text, *terms);
  }
}

TEST_F(SeparateTest, NothingWhereMoreThanTwoComponentsMix) {
  for (const char* text : {"(v' - v)/sqrt(1 + (x - x')^2 + (y - y')^2)", "exp(-(x - x')^2 - (y - y')^2)*0.5",
                           "tanh(x - x')*tanh(y - y')", "tanh(x - x' + y)", "tanh(t*(x - x'))", "abs(x - x' - y')"})
    EXPECT_FALSE(split(text)) << text;
}

TEST_F(SeparateTest, TooManyTermsAreRefused) {
  EXPECT_FALSE(separate(parse_expression("(x - x' + y - y' + v - v')^12", g, scope)));
  EXPECT_FALSE(separate(parse_expression("(x - x')^4", g, scope), 4));
  EXPECT_TRUE(separate(parse_expression("(x - x')^4", g, scope), 5));
}
}  // namespace
}  // namespace mckean::test
