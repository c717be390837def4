// Hash-consing, simplification, substitution and evaluation of the expression graph.
#include <gtest/gtest.h>

#include "random_expression.hpp"

namespace mckean::test {
namespace {

class GraphTest : public ::testing::Test {
 protected:
  Graph g;
  Expr x = g.state("x"), y = g.state("y"), theta = g.parameter("theta");
};

TEST_F(GraphTest, EqualSubexpressionsAreOneNode) {
  EXPECT_EQ(sin(x + y) * theta, sin(x + y) * theta);
  EXPECT_EQ(x + y, y + x);
  EXPECT_EQ(x * y, y * x);
  EXPECT_EQ(min(x, y), min(y, x));
  EXPECT_EQ(max(x, y), max(y, x));
  EXPECT_EQ(g.make(Op::equal, x, y), g.make(Op::equal, y, x));
  EXPECT_EQ(g.make(Op::not_equal, x, y), g.make(Op::not_equal, y, x));
  EXPECT_NE(x - y, y - x);
  EXPECT_NE(x / y, y / x);
  EXPECT_NE(less(x, y), less(y, x));
  const std::size_t before = g.size();
  const Expr e = exp(x + y) / (2.0 + theta);
  const std::size_t after = g.size();
  EXPECT_GT(after, before);
  EXPECT_EQ(exp(y + x) / (theta + 2.0), e);
  EXPECT_EQ(g.size(), after);
  for (std::size_t i = 0; i < e.arity(); ++i) EXPECT_LT(e.operand(i).id(), e.id());
}

TEST_F(GraphTest, SymbolsAreTheirKindNameAndIndex) {
  EXPECT_EQ(g.state("x"), x);
  EXPECT_NE(g.parameter("x"), x);
  EXPECT_NE(g.symbol({Kind::other_state, "x"}), x);
  EXPECT_NE(g.symbol({Kind::state, "x", 0}), g.symbol({Kind::state, "x", 1}));
  EXPECT_EQ(other(x), g.symbol({Kind::other_state, "x"}));
  EXPECT_EQ(other(sin(x - theta)), sin(other(x) - theta));
  EXPECT_EQ((x * theta).kinds(), Kind::state | Kind::parameter);
  EXPECT_FALSE(g.number(3).has(0xffff));
}

TEST_F(GraphTest, SimplifiesWhatIsWorthIt) {
  const std::pair<Expr, Expr> same[] = {
      {x + 0.0, x},
      {0.0 - x, -x},
      {x - x, g.number(0)},
      {x + x, 2.0 * x},
      {x - (-y), x + y},
      {x + (-y), x - y},
      {(-x) + y, y - x},
      {(-x) * (-y), x * y},
      {(-x) / y, -(x / y)},
      {x * 0.0, g.number(0)},
      {1.0 * x, x},
      {x * -1.0, -x},
      {x / 1.0, x},
      {-(-x), x},
      {-(x - y), y - x},
      {2.0 * (3.0 * x), 6.0 * x},
      {x * x, pow(x, 2)},
      {pow(x, 2) * x, pow(x, 3)},
      {pow(pow(x, 2), 3), pow(x, 6)},
      {pow(x, 1), x},
      {pow(x, 0), g.number(1)},
      {pow(x, 0.5), sqrt(x)},
      {pow(x, -1), 1.0 / x},
      {pow(-x, 2), pow(x, 2)},
      {pow(-x, 3), -pow(x, 3)},
      {sin(-x), -sin(x)},
      {cos(-x), cos(x)},
      {abs(-x), abs(x)},
      {min(x, x), x},
      {select(g.number(1), x, y), x},
      {select(g.number(0), x, y), y},
      {select(less(x, y), theta, theta), theta},
      {g.number(2) + 3.0, g.number(5)},
      {sqrt(g.number(4)), g.number(2)},
      {g.number(-0.0), g.number(0)},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(a, b) << to_text(a) << " and " << to_text(b);
}

// Poles must stay where they are, and numbers that no double holds must not be folded.
TEST_F(GraphTest, LeavesWhatIsNotTheSame) {
  const auto at_zero = [&](Expr e) { return evaluate(e, {{x.id(), 0.0}}); };
  EXPECT_TRUE(std::isnan(at_zero(x / x)));
  EXPECT_TRUE(std::isnan(at_zero(x * pow(x, -1))));
  EXPECT_TRUE(std::isnan(at_zero(pow(x, 2) * pow(x, -2))));
  EXPECT_FALSE(log(g.number(0)).is_number());
  EXPECT_FALSE((g.number(1) / 0.0).is_number());
  EXPECT_FALSE((g.number(0) / 0.0).is_number());
  EXPECT_FALSE((g.number(1e200) * 1e200).is_number());
  EXPECT_EQ(evaluate(sqrt(pow(x, 2)), {{x.id(), -3.0}}), 3);
  EXPECT_EQ(evaluate(1e200 * (1e200 * x), {{x.id(), 1e-200}}), 1e200);
  EXPECT_EQ(evaluate(1e-200 * (1e-200 * x), {{x.id(), 1e200}}), 1e-200);
  EXPECT_EQ(evaluate(1e-200 * (1e-120 * x), {{x.id(), 1e120}}), 1e-200);
}

TEST_F(GraphTest, SimplificationNeverChangesAValueBeyondRounding) {
  const Expr symbols[] = {x, y, theta, g.parameter("a")};
  RandomTrees trees(20, std::size(symbols));
  int usable = 0, sharp = 0;
  for (int i = 0; i < 40000; ++i) {
    const Tree t = trees(1 + static_cast<int>(trees.below(6)));
    const std::vector<double> values = i % 2 ? trees.values(0.1, 2) : trees.values(-2, 2);
    const Reference want = reference(t, values);
    const Expr e = build(g, t, symbols);
    if (!want.usable) continue;
    std::unordered_map<std::uint32_t, double> at;
    for (std::size_t k = 0; k < values.size(); ++k) at[symbols[k].id()] = values[k];
    ++usable;
    sharp += well_conditioned(want);
    ASSERT_NEAR(evaluate(e, at), want.value, want.tolerance) << to_text(e);
  }
  EXPECT_GT(usable, 15000);  // most of the rest take logarithms of negative numbers
  EXPECT_GT(sharp, 10000);   // held to better than 1e-12
}

TEST_F(GraphTest, SubstitutionReplacesTheOutermostAndKeepsTheRest) {
  const Expr e = sin(x + y) + exp(x);
  EXPECT_EQ(substitute(e, {{x.id(), theta}}), sin(theta + y) + exp(theta));
  EXPECT_EQ(substitute(e, {{(x + y).id(), theta}, {x.id(), y}}), sin(theta) + exp(y));
  EXPECT_EQ(substitute(e, {}), e);
  EXPECT_EQ(substitute(x - y, {{x.id(), y}, {y.id(), x}}), y - x);
  EXPECT_EQ(substitute(e, {{x.id(), g.number(0)}}), sin(y) + 1.0);
}

TEST_F(GraphTest, ReachableNodesComeOperandsFirst) {
  const Expr e = sin(x + y) * cos(x + y), roots[] = {e, theta};
  const std::vector<Expr> nodes = reachable(roots);
  EXPECT_EQ(nodes.size(), 7u);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i - 1].id(), nodes[i].id());
  EXPECT_TRUE(reachable({}).empty());
}

TEST_F(GraphTest, EvaluationNeedsEverySymbol) { EXPECT_THROW(evaluate(x + y, {{x.id(), 1.0}}), std::out_of_range); }

TEST_F(GraphTest, SumsOfManyTermsAreShallow) {
  std::vector<Expr> terms;
  for (int i = 0; i < 1000; ++i) terms.push_back(g.symbol({Kind::state, "z", i}));
  const Expr s = sum_of(g, terms);
  int depth = 0;
  for (Expr e = s; e.arity() > 0; e = e.operand(0)) ++depth;
  EXPECT_LE(depth, 10);
  std::unordered_map<std::uint32_t, double> at;
  for (std::size_t i = 0; i < terms.size(); ++i) at[terms[i].id()] = static_cast<double>(i);
  EXPECT_EQ(evaluate(s, at), 499500);
  EXPECT_EQ(sum_of(g, {}), g.number(0));
}

// A chain far deeper than any stack.
TEST_F(GraphTest, WalksDoNotRecurse) {
  Expr e = x;
  for (int i = 0; i < 200000; ++i) e = sin(e + theta);
  EXPECT_TRUE(std::isfinite(evaluate(e, {{x.id(), 1.0}, {theta.id(), 0.1}})));
  EXPECT_NE(substitute(e, {{x.id(), y}}), e);
}
}  // namespace
}  // namespace mckean::test
