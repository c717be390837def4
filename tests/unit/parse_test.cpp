// Text to expressions: precedence, every function, names, and texts that are refused.
#include "expr/parse.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "random_expression.hpp"

namespace mckean::test {
namespace {

class ParseTest : public ::testing::Test {
 protected:
  ParseTest() {
    for (const auto& [name, e] : {std::pair{"x", x}, {"y", y}, {"z", z}, {"theta", theta}, {"t", t}})
      scope.names[name] = {e, {}};
    scope.names["v"] = {g.state("v"), {component(0), component(1)}};
    scope.primed["x"] = {other(x), {}};
    scope.primed["v"] = {other(g.state("v")), {other(component(0)), other(component(1))}};
  }
  Expr component(int i) { return g.symbol({Kind::state, "v", i}); }
  Expr parse(std::string_view text) { return parse_expression(text, g, scope); }
  double value(std::string_view text) {
    return evaluate(parse(text), {{x.id(), 3.0}, {y.id(), 5.0}, {z.id(), 7.0}, {theta.id(), 11.0}, {t.id(), 2.0}});
  }
  std::size_t error_position(std::string_view text) {
    try {
      parse(text);
    } catch (const ParseError& e) {
      return e.position;
    }
    ADD_FAILURE() << "accepted: " << text;
    return 0;
  }

  Graph g;
  Expr x = g.state("x"), y = g.state("y"), z = g.state("z"), theta = g.parameter("theta");
  Expr t = g.symbol({Kind::time, "t"});
  Scope scope;
};

TEST_F(ParseTest, PrecedenceAndAssociativity) {
  const std::pair<const char*, double> table[] = {
      {"x + y*z", 38},
      {"(x + y)*z", 56},
      {"x - y - z", -9},
      {"x - (y - z)", 5},
      {"x/y/z", 3.0 / 5 / 7},
      {"x/(y/z)", 3.0 / (5.0 / 7)},
      {"x/y*z", 3.0 / 5 * 7},
      {"-x^2", -9},
      {"(-x)^2", 9},
      {"x^-2", 1.0 / 9},
      {"2^x^2", 512},
      {"(2^x)^2", 64},
      {"2*-x", -6},
      {"x - -y", 8},
      {"x--y", 8},
      {"- - x", 3},
      {"+x", 3},
      {"x - +y", -2},
      {"-x*y", -15},
      {"-x + y", 2},
      {"-2^2", -4},
      {"2 + 3 < 6", 1},
      {"x < y", 1},
      {"x > y", 0},
      {"x <= 3", 1},
      {"x >= 4", 0},
      {"x == 3", 1},
      {"x != 3", 0},
      {"(x < y) + (y < z)", 2},
      {"(x < y) == (y < z)", 1},
      {"if(x < y, 10, 20)", 10},
      {"if(x > y, 10, if(y > z, 20, 30))", 30},
      {"min(x, y) + max(x, y)*2", 13},
      {"pow(x, 2)", 9},
      {"1e3 + 1.5E-1 + .5", 1000.65},
      {"2*pi", 2 * std::numbers::pi},
      {" \t x\n+\r\n y ", 8},
      {"theta*t", 22},
      {"x*y^2*z", 525},
      {"2/x^2", 2.0 / 9},
  };
  for (const auto& [text, want] : table) EXPECT_DOUBLE_EQ(value(text), want) << text;
}

TEST_F(ParseTest, EveryFunctionIsKnownByItsName) {
  for (const std::string& name : function_names()) {
    const FunctionInfo* f = find_function(name);
    ASSERT_NE(f, nullptr);
    const bool polygamma = f->op == Op::polygamma;
    const std::string text = name + (polygamma           ? "(1, x)"
                                     : f->arguments == 1 ? "(x)"
                                     : f->arguments == 2 ? "(x, y)"
                                                         : "(x, y, z)");
    const Expr want = polygamma           ? g.make(f->op, g.number(1), x)
                      : f->arguments == 1 ? g.make(f->op, x)
                      : f->arguments == 2 ? g.make(f->op, x, y)
                                          : g.make(f->op, x, y, z);
    EXPECT_EQ(parse(text), want) << text;
    EXPECT_THROW(parse(name + "()"), ParseError);
    EXPECT_THROW(parse(name + "(x, y, z, x)"), ParseError);
    EXPECT_THROW(parse(name), ParseError);
  }
}

TEST_F(ParseTest, CppOperatorsBuildTheNodeOfTheText) {
  EXPECT_EQ(parse("sin(x - x')"), sin(x - other(x)));
  EXPECT_EQ(parse("theta*x^2/(1 + y)"), theta * pow(x, 2) / (1.0 + y));
  EXPECT_EQ(parse("-x + 2*y"), -x + 2.0 * y);
  EXPECT_EQ(parse("if(x < y, x, y)"), select(less(x, y), x, y));
  EXPECT_EQ(parse("if(x >= y, x, y)"), select(less_equal(y, x), x, y));
  EXPECT_EQ(parse("sigmoid(x)*softplus(y) - relu(z)"), sigmoid(x) * softplus(y) - relu(z));
  EXPECT_EQ(parse("mean(sigmoid(v'))"), mean(sigmoid(other(g.state("v")))));
  EXPECT_EQ(parse("exp(-(x - x')^2/2)"), exp(-pow(x - other(x), 2) / 2.0));
  EXPECT_EQ(parse("3*x - 1/y"), 3.0 * x - 1.0 / y);
  EXPECT_EQ(parse("x^theta"), pow(x, theta));
}

TEST_F(ParseTest, PrimesAndComponents) {
  EXPECT_EQ(parse("v[1]"), component(0));
  EXPECT_EQ(parse("v[ 2 ]"), component(1));
  EXPECT_EQ(parse("v'[2]"), other(component(1)));
  EXPECT_EQ(parse("v"), g.state("v"));
  EXPECT_EQ(parse("v'"), other(g.state("v")));
  EXPECT_EQ(parse("x'*2"), other(x) * 2.0);
  for (const char* text : {"v[0]", "v[3]", "v[-1]", "v[x]", "v[1", "v[1.5]", "x[1]", "theta'", "y'", "x''", "v[1]'",
                           "v[]", "v[99999999999]"})
    EXPECT_THROW(parse(text), ParseError) << text;
  scope.no_primes = "only interactions have two particles";
  EXPECT_THROW(parse("x'"), ParseError);
}

TEST_F(ParseTest, RefusedTextsNameTheirPlace) {
  const std::pair<const char*, std::size_t> table[] = {
      {"", 0},          {"x +", 3},       {"x y", 2},      {"2x", 1},
      {"x @ y", 2},     {"x)", 1},        {"x ** 2", 2},   {"sinn(x)", 0},
      {"x + q", 4},     {"x < y < z", 6}, {"x = y", 2},    {"sin x", 0},
      {"x(2)", 0},      {"x + 1e999", 4}, {"min(x y)", 6}, {"polygamma(x, y)", 0},
      {"sin(x, y)", 0},
  };
  for (const auto& [text, at] : table) EXPECT_EQ(error_position(text), at) << text;
  EXPECT_THROW(parse("(x"), ParseError);
  EXPECT_THROW(parse(std::string(5000, '(') + "x" + std::string(5000, ')')), ParseError);
  EXPECT_THROW(parse(std::string(5000, '-') + "x"), ParseError);
  EXPECT_THROW(parse("x" + std::string(30000, ' ')), ParseError);
}

TEST_F(ParseTest, CallsOfDistributionsKeepTheirArguments) {
  const Call call = parse_call(" normal(x + 1, theta) ", g, scope);
  EXPECT_EQ(call.name, "normal");
  EXPECT_EQ(call.arguments, (std::vector{x + 1.0, theta}));
  EXPECT_THROW(parse_call("x + 1", g, scope), ParseError);
  EXPECT_THROW(parse_call("normal(x, 1) + 1", g, scope), ParseError);
}

// With parentheses around every part nothing is left to precedence.
std::string bracketed(const Tree& t, std::span<const std::string> names) {
  if (t.op == Op::number) return "(" + number_to_text(t.number) + ")";
  if (t.op == Op::symbol) return names[t.symbol];
  std::vector<std::string> args;
  for (const Tree& a : t.args) args.push_back(bracketed(a, names));
  const auto infix = [&](const char* op) { return "(" + args[0] + op + args[1] + ")"; };
  switch (t.op) {
    case Op::add:
      return infix("+");
    case Op::sub:
      return infix("-");
    case Op::mul:
      return infix("*");
    case Op::div:
      return infix("/");
    case Op::pow:
      return infix("^");
    case Op::less:
      return infix("<");
    case Op::less_equal:
      return infix("<=");
    case Op::equal:
      return infix("==");
    case Op::not_equal:
      return infix("!=");
    case Op::neg:
      return "(-" + args[0] + ")";
    default:
      break;
  }
  std::string call = std::string(function_name(t.op)) + "(";
  for (std::size_t i = 0; i < args.size(); ++i) call += (i ? "," : "") + args[i];
  return call + ")";
}

TEST_F(ParseTest, RandomTextsGiveTheNodesOfTheirTrees) {
  const Expr symbols[] = {x, other(x), y, theta, component(1), other(component(0))};
  const std::string names[] = {"x", "x'", "y", "theta", "v[2]", "v'[1]"};
  RandomTrees trees(7, std::size(symbols));
  for (int i = 0; i < 5000; ++i) {
    const Tree tree = trees(1 + static_cast<int>(trees.below(5)));
    const std::string text = bracketed(tree, names);
    ASSERT_EQ(parse(text), build(g, tree, symbols)) << text;
  }
}
}  // namespace
}  // namespace mckean::test
