// Expressions to text, and back to the same node.
#include <gtest/gtest.h>

#include <cstdlib>

#include "expr/parse.hpp"
#include "random_expression.hpp"

namespace mckean::test {
namespace {

class PrintTest : public ::testing::Test {
 protected:
  PrintTest() {
    for (const Expr e : {x, y, theta}) scope.names[e.symbol().name] = {e, {}};
    scope.names["v"] = {g.state("v"), {g.symbol({Kind::state, "v", 0}), g.symbol({Kind::state, "v", 1})}};
    scope.primed["x"] = {other(x), {}};
    scope.primed["v"] = {other(g.state("v")), {other(scope.names["v"].components[0])}};
  }
  Expr parse(std::string_view text) { return parse_expression(text, g, scope); }

  Graph g;
  Expr x = g.state("x"), y = g.state("y"), theta = g.parameter("theta");
  Scope scope;
};

TEST_F(PrintTest, WritesWhatAPersonWould) {
  for (const char* text : {"sin(x - x')",
                           "x + y - theta",
                           "x - (y - theta)",
                           "x*y*theta",
                           "x/(y*theta)",
                           "x/y/theta",
                           "-x^2",
                           "(x + y)^2",
                           "(-2)^x",
                           "x^(y + 1)",
                           "(x^y)^theta",
                           "x^(y^theta)",
                           "-(x*y)",
                           "if(x < y, x, 2*y)",
                           "(x < y) + theta",
                           "x <= y",
                           "x == y",
                           "x != y",
                           "v[2]",
                           "v'[1]",
                           "mean(v')",
                           "2 - x",
                           "-2 - x",
                           "x^(-2)",
                           "1/x",
                           "min(x, y)",
                           "polygamma(1, x)",
                           "log(0)",
                           "0/0",
                           "1e+200*1e+200",
                           "(x == y) == theta"}) {
    const Expr e = parse(text);
    EXPECT_EQ(parse(to_text(e)), e) << text << " is printed as " << to_text(e);
  }
  EXPECT_EQ(to_text(sin(x - other(x))), "sin(x - x')");
  EXPECT_EQ(to_text(theta - 2.0 * pow(x, 2)), "theta - 2*x^2");
  EXPECT_EQ(to_text(-(x * y)), "-(x*y)");
  EXPECT_EQ(to_text(other(g.symbol({Kind::state, "v", 1}))), "v'[2]");
  EXPECT_EQ(to_text(select(less(x, y), x, y)), "if(x < y, x, y)");
}

TEST_F(PrintTest, NumbersReadBackToTheSameBits) {
  for (const double v : {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 123456789.0, -2.5, 1e22, 3e-7}) {
    EXPECT_EQ(std::strtod(number_to_text(v).c_str(), nullptr), v);
    EXPECT_EQ(parse(number_to_text(v)), g.number(v)) << number_to_text(v);
    EXPECT_EQ(parse(to_text(g.number(v) * x)), v * x);
    EXPECT_EQ(parse(to_text(pow(g.number(v), x))), pow(g.number(v), x));
  }
  EXPECT_EQ(number_to_text(0.1), "0.1");
  EXPECT_EQ(number_to_text(3), "3");
}

TEST_F(PrintTest, RandomExpressionsParseBackToTheSameNode) {
  const Expr symbols[] = {x, other(x), y, theta, scope.names["v"].components[1], scope.primed["v"].components[0]};
  RandomTrees trees(11, std::size(symbols));
  for (int i = 0; i < 10000; ++i) {
    const Expr e = build(g, trees(1 + static_cast<int>(trees.below(6))), symbols);
    ASSERT_EQ(parse(to_text(e)), e) << to_text(e);
  }
}

TEST_F(PrintTest, DerivativesParseBackToo) {
  const Expr symbols[] = {x, y, theta};
  RandomTrees trees(12, std::size(symbols));
  for (int i = 0; i < 2000; ++i) {
    const Expr e = differentiate(build(g, trees(3), symbols), x);
    const std::string text = to_text(e);
    if (text.size() > 20000) continue;  // longer than what is read
    ASSERT_EQ(parse(text), e) << text;
  }
}
}  // namespace
}  // namespace mckean::test
