// Symbolic derivatives against central differences, and the places where care is needed.
#include <gtest/gtest.h>

#include "random_expression.hpp"

namespace mckean::test {
namespace {

using Point = std::unordered_map<std::uint32_t, double>;

// Central differences at h and h/2, extrapolated: the error is O(h^4), and the two tell how large.
struct Difference {
  double value, error;
};
Difference central(Expr e, Point at, Expr by, double h) {
  const double x = at[by.id()];
  const auto slope = [&](double step) {
    at[by.id()] = x + step;
    const double up = evaluate(e, at);
    at[by.id()] = x - step;
    return (up - evaluate(e, at)) / (2 * step);
  };
  const double wide = slope(h), narrow = slope(h / 2);
  at[by.id()] = x;
  const double size = std::abs(evaluate(e, at));
  return {(4 * narrow - wide) / 3, std::abs(narrow - wide) * 0.1 + 1e-14 * size / h};
}

bool all_parts_finite(Expr e, const Point& at) {
  for (const Expr n : reachable(std::span(&e, 1)))
    if (!std::isfinite(evaluate(n, at))) return false;
  return true;
}

class DifferentiateTest : public ::testing::Test {
 protected:
  Graph g;
  Expr x = g.state("x"), y = g.state("y"), theta = g.parameter("theta");
  Expr zero = g.number(0), one = g.number(1);
  double at(Expr e, double vx, double vy = 0.7, double vt = 1.3) {
    return evaluate(e, {{x.id(), vx}, {y.id(), vy}, {theta.id(), vt}});
  }
};

TEST_F(DifferentiateTest, EveryFunctionOfOneArgument) {
  for (auto k = static_cast<int>(Op::neg); k <= static_cast<int>(Op::lgamma); ++k) {
    const Expr e = g.make(static_cast<Op>(k), x), d = differentiate(e, x);
    int tested = 0;
    for (const double v : {-3.4, -0.81, -0.3, 0.12, 0.5, 0.93, 2.6, 7.1}) {
      if (!std::isfinite(at(e, v))) continue;
      const Difference want = central(e, {{x.id(), v}}, x, 1e-3);
      EXPECT_NEAR(at(d, v), want.value, 1e-7 * std::max(1.0, std::abs(want.value))) << to_text(e) << " at " << v;
      ++tested;
    }
    EXPECT_GE(tested, 4) << to_text(e);
  }
}

TEST_F(DifferentiateTest, EveryFunctionOfTwoArgumentsByEach) {
  for (auto k = static_cast<int>(Op::add); k < static_cast<int>(Op::polygamma); ++k) {
    const Expr e = g.make(static_cast<Op>(k), x, y);
    for (const Expr by : {x, y}) {
      const Expr d = differentiate(e, by);
      for (const auto& [a, b] : {std::pair{0.4, 1.7}, {2.3, -0.6}, {1.9, 0.2}}) {
        const Point p{{x.id(), a}, {y.id(), b}};
        const Difference want = central(e, p, by, 1e-3);
        EXPECT_NEAR(evaluate(d, p), want.value, 1e-8 * std::max(1.0, std::abs(want.value))) << to_text(e);
      }
    }
  }
}

TEST_F(DifferentiateTest, RandomCompositeExpressions) {
  const Expr symbols[] = {x, y, theta};
  RandomTrees trees(31, std::size(symbols));
  int tested = 0;
  for (int i = 0; i < 20000; ++i) {
    const Expr e = build(g, trees(1 + static_cast<int>(trees.below(4))), symbols);
    const std::vector<double> v = trees.values(0.2, 1.8);
    const Point p{{x.id(), v[0]}, {y.id(), v[1]}, {theta.id(), v[2]}};
    for (const Expr by : symbols) {
      const Difference want = central(e, p, by, 1e-4);
      if (!std::isfinite(want.value) || want.error > 1e-4 * std::max(1.0, std::abs(want.value))) continue;
      const Expr d = differentiate(e, by);
      if (!all_parts_finite(e, p) || !all_parts_finite(d, p)) continue;
      ASSERT_NEAR(evaluate(d, p), want.value, want.error + 1e-8 * std::max(1.0, std::abs(want.value)))
          << "d/d" << to_text(by) << " " << to_text(e) << " at " << v[0] << ", " << v[1] << ", " << v[2];
      ++tested;
    }
  }
  EXPECT_GT(tested, 30000);
}

TEST_F(DifferentiateTest, StructuralZerosAreTheNumberZero) {
  for (const Expr e : {y, theta * y, exp(y) / theta, sign(x), less(x, y), g.number(3), select(less(x, y), y, theta)})
    EXPECT_EQ(differentiate(e, x), zero) << to_text(e);
  EXPECT_EQ(differentiate(x, x), one);
  EXPECT_EQ(differentiate(theta * x + y, x), theta);
  EXPECT_EQ(differentiate(pow(x, 3), x), 3.0 * pow(x, 2));
  EXPECT_EQ(differentiate(sin(x), {{x.id(), zero}}), zero);
  const Expr roots[] = {x * y, y};
  EXPECT_EQ(differentiate(roots, {{x.id(), one}}), (std::vector{y, zero}));
}

TEST_F(DifferentiateTest, SecondDerivatives) {
  const auto twice = [&](Expr e) { return differentiate(differentiate(e, x), x); };
  for (const double v : {0.3, 0.9, 1.6}) {
    const double s = 1 / (1 + std::exp(-v)), t = std::tanh(v);
    const std::pair<Expr, double> table[] = {
        {sin(x), -std::sin(v)},
        {exp(2.0 * x), 4 * std::exp(2 * v)},
        {log(x), -1 / (v * v)},
        {pow(x, 5), 20 * v * v * v},
        {sqrt(x), -0.25 * std::pow(v, -1.5)},
        {1.0 / x, 2 / (v * v * v)},
        {tanh(x), -2 * t * (1 - t * t)},
        {sigmoid(x), s * (1 - s) * (1 - 2 * s)},
        {softplus(x), s * (1 - s)},
        {lgamma(x), apply(Op::polygamma, 1, v)},
        {pow(x, theta), 1.3 * 0.3 * std::pow(v, -0.7)},
        {exp(-pow(x, 2) / 2.0), (v * v - 1) * std::exp(-v * v / 2)},
    };
    for (const auto& [e, want] : table) EXPECT_NEAR(at(twice(e), v), want, 1e-12 * std::abs(want)) << to_text(e);
  }
  const Expr mixed = exp(x * y) * theta;
  EXPECT_NEAR(at(differentiate(differentiate(mixed, x), y), 0.4), at(differentiate(differentiate(mixed, y), x), 0.4),
              1e-14);
}

// d/ds f(x + s dx, theta + s dtheta) with symbols for the rates.
TEST_F(DifferentiateTest, DirectionalDerivativesFollowTangentSymbols) {
  const Expr dx = g.symbol({Kind::column, "S", 0}), dm = g.symbol({Kind::uniform, "dm", 0});
  const Expr e = sin(x * theta) / (1.0 + pow(y, 2)) + x * y;
  const Expr d = differentiate(e, {{x.id(), dx}, {y.id(), dm}, {theta.id(), one}});
  const Point p{{x.id(), 0.8}, {y.id(), -1.1}, {theta.id(), 0.6}, {dx.id(), 1.7}, {dm.id(), -0.4}};
  const double want = evaluate(differentiate(e, x), p) * 1.7 - 0.4 * evaluate(differentiate(e, y), p) +
                      evaluate(differentiate(e, theta), p);
  EXPECT_NEAR(evaluate(d, p), want, 1e-14);
}

TEST_F(DifferentiateTest, PowersAtBaseZero) {
  const Expr e = pow(x, theta);
  EXPECT_EQ(at(differentiate(e, theta), 0), 0);
  EXPECT_EQ(at(differentiate(e, x), 0), 0);  // theta = 1.3
  EXPECT_EQ(at(differentiate(e, x), 0, 0.7, 1.0), 1);
  EXPECT_EQ(at(differentiate(e, x), 0, 0.7, 2.0), 0);
  EXPECT_EQ(at(differentiate(pow(x, 2), x), 0), 0);
  EXPECT_EQ(at(differentiate(pow(x, 1.5), x), 0), 0);
  EXPECT_NEAR(at(differentiate(e, theta), 2), std::pow(2, 1.3) * std::log(2), 1e-14);
}

TEST_F(DifferentiateTest, BranchesFollowTheOneTaken) {
  EXPECT_EQ(at(differentiate(max(x, y), x), 1), 1);
  EXPECT_EQ(at(differentiate(max(x, y), x), 0.5), 0);
  EXPECT_EQ(at(differentiate(min(x, y), x), 1), 0);
  EXPECT_EQ(at(differentiate(abs(x), x), -2), -1);
  EXPECT_EQ(at(differentiate(relu(x), x), -2), 0);
  EXPECT_EQ(at(differentiate(select(less(x, zero), pow(x, 2), 3.0 * x), x), -2), -4);
  EXPECT_EQ(at(differentiate(select(less(x, zero), pow(x, 2), 3.0 * x), x), 2), 3);
}

// A pole of the outer function's slope does no harm where the inner function stands still.
TEST_F(DifferentiateTest, PolesOutsideTheBranchTakenDoNoHarm) {
  for (const Expr e :
       {select(less(zero, x), log(x), zero), sqrt(max(x, zero)), sqrt(relu(x)), pow(max(x, zero), theta / 2.0),
        y * sqrt(max(zero, x)) * theta, exp(-sqrt(relu(x))), 1.0 / (1.0 + sqrt(max(x, zero))),
        sqrt(select(less(zero, x), x, zero)), sqrt(max(min(x, one), zero))}) {
    EXPECT_EQ(at(differentiate(e, x), -0.5), 0) << to_text(differentiate(e, x));
    EXPECT_EQ(at(differentiate(differentiate(e, x), x), -0.5), 0) << to_text(e);
    EXPECT_NEAR(at(differentiate(e, x), 0.5),
                central(e, {{x.id(), 0.5}, {y.id(), 0.7}, {theta.id(), 1.3}}, x, 1e-3).value, 1e-8);
  }
}

TEST_F(DifferentiateTest, LgammaGivesPolygammas) {
  const Expr d = differentiate(lgamma(theta * x), theta);
  EXPECT_EQ(d, x * g.make(Op::polygamma, zero, theta * x));
  EXPECT_EQ(differentiate(g.make(Op::polygamma, g.number(2), x), x), g.make(Op::polygamma, g.number(3), x));
  EXPECT_NEAR(at(differentiate(lgamma(x), x), 1), -0.57721566490153286, 1e-15);
}
}  // namespace
}  // namespace mckean::test
