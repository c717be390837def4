// Log densities of observations: independent formulas, total mass 1, derivatives by parameters.
#include "model/density.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace mckean {
namespace {

constexpr double kPi = std::numbers::pi;

double choose(double n, double k) { return k == 0 ? 1 : choose(n - 1, k - 1) * n / k; }

struct Case {
  Distribution distribution;
  std::vector<std::vector<double>> arguments;
  std::vector<double> at;
  std::function<double(double, const std::vector<double>&)> density;  // written without logarithms
};

const std::vector<Case>& cases() {
  using A = const std::vector<double>&;
  static const std::vector<Case> all{
      {Distribution::normal,
       {{0.3, 0.8}, {-2, 3}},
       {-1.5, 0, 0.3, 2.2},
       [](double y, A a) {
         return std::exp(-(y - a[0]) * (y - a[0]) / (2 * a[1] * a[1])) / (std::sqrt(2 * kPi) * a[1]);
       }},
      {Distribution::student_t,
       {{5, 0.2, 0.7}, {1, 0, 1}, {2.5, -1, 2}},
       {-3, 0, 0.2, 1.9},
       [](double y, A a) {
         const double z = (y - a[1]) / a[2];
         return std::tgamma((a[0] + 1) / 2) / std::tgamma(a[0] / 2) / std::sqrt(a[0] * kPi) / a[2] *
                std::pow(1 + z * z / a[0], -(a[0] + 1) / 2);
       }},
      {Distribution::lognormal,
       {{0.1, 0.5}, {-1, 1.2}},
       {0.05, 0.7, 1, 4},
       [](double y, A a) {
         const double z = (std::log(y) - a[0]) / a[1];
         return std::exp(-z * z / 2) / (std::sqrt(2 * kPi) * a[1] * y);
       }},
      {Distribution::poisson,
       {{0.4}, {3.7}},
       {0, 1, 2, 9},
       [](double y, A a) { return std::exp(-a[0]) * std::pow(a[0], y) / std::tgamma(y + 1); }},
      {Distribution::negative_binomial,
       {{1.5, 0.8}, {4, 10}},
       {0, 1, 3, 12},
       [](double y, A a) {
         const double p = a[1] / (a[0] + a[1]);
         return std::tgamma(y + a[1]) / std::tgamma(a[1]) / std::tgamma(y + 1) * std::pow(p, a[1]) * std::pow(1 - p, y);
       }},
      {Distribution::binomial,
       {{10, 0.3}, {4, 0.85}},
       {0, 1, 4},
       [](double y, A a) { return choose(a[0], y) * std::pow(a[1], y) * std::pow(1 - a[1], a[0] - y); }},
  };
  return all;
}

class DensityTest : public ::testing::Test {
 protected:
  Expr formula(const Case& c) {
    arguments.clear();
    for (std::size_t i = 0; i < info(c.distribution).arguments.size(); ++i)
      arguments.push_back(g.symbol({Kind::parameter, "a", static_cast<int>(i)}));
    return log_density(c.distribution, y, arguments);
  }
  double value(Expr e, double vy, const std::vector<double>& a) const {
    std::unordered_map<std::uint32_t, double> at{{y.id(), vy}};
    for (std::size_t i = 0; i < a.size(); ++i) at[arguments[i].id()] = a[i];
    return evaluate(e, at);
  }

  Graph g;
  Expr y = g.symbol({Kind::observed, "y"});
  std::vector<Expr> arguments;
};

TEST_F(DensityTest, EveryDistributionIsTested) { EXPECT_EQ(cases().size(), distributions().size()); }

TEST_F(DensityTest, IndependentFormulas) {
  for (const Case& c : cases()) {
    const Expr e = formula(c);
    for (const auto& a : c.arguments)
      for (const double v : c.at) {
        const double want = std::log(c.density(v, a));
        EXPECT_NEAR(value(e, v, a), want, 1e-13 * std::max(1.0, std::abs(want)))
            << info(c.distribution).name << " " << v;
      }
  }
}

// Counts: the sum; else the trapezoidal rule in s, y = sinh(s) or exp(s), which is exact to rounding for integrands
// that die out at both ends. The t density with 1 degree of freedom leaves 2/(π e^30) outside.
TEST_F(DensityTest, TotalMassIsOne) {
  for (const Case& c : cases()) {
    const Expr e = formula(c);
    const auto support = info(c.distribution).support;
    for (const auto& a : c.arguments) {
      double mass = 0;
      if (support == DistributionInfo::count) {
        const double most = c.distribution == Distribution::binomial ? a[0] : 400;
        for (double k = 0; k <= most; ++k) mass += std::exp(value(e, k, a));
      } else {
        const double h = 0.01;
        for (double s = -30; s <= 30; s += h) {
          const bool real = support == DistributionInfo::real;
          const double weight = real ? std::cosh(s) : std::exp(s);
          mass += h * weight * std::exp(value(e, real ? std::sinh(s) : std::exp(s), a));
        }
      }
      EXPECT_NEAR(mass, 1, 1e-10) << info(c.distribution).name;
    }
  }
}

TEST_F(DensityTest, DerivativesByEveryArgument) {
  for (const Case& c : cases()) {
    const Expr e = formula(c);
    for (const auto& a : c.arguments)
      for (const double v : c.at)
        for (std::size_t i = c.distribution == Distribution::binomial; i < a.size(); ++i) {  // trials are whole numbers
          const double h = 1e-5 * std::max(1.0, std::abs(a[i]));
          auto up = a, down = a;
          up[i] += h, down[i] -= h;
          const double want = (value(e, v, up) - value(e, v, down)) / (2 * h);
          EXPECT_NEAR(value(differentiate(e, arguments[i]), v, a), want, 1e-7 * std::max(1.0, std::abs(want)))
              << info(c.distribution).name << " argument " << i;
        }
  }
}

// At the edge of what a count can be: 0 log 0 = 0, and the impossible has density 0.
TEST_F(DensityTest, CountsAtTheEdge) {
  const Expr poisson = formula(cases()[3]);
  EXPECT_EQ(value(poisson, 0, {0}), 0);
  EXPECT_EQ(value(poisson, 2, {0}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value(differentiate(poisson, arguments[0]), 0, {0}), -1);
  const Expr binomial = formula(cases()[5]);
  EXPECT_EQ(value(binomial, 0, {5, 0}), 0);
  EXPECT_EQ(value(binomial, 5, {5, 1}), 0);
  EXPECT_EQ(value(binomial, 6, {5, 0.5}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value(binomial, 8, {5, 0.5}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value(differentiate(binomial, arguments[1]), 0, {5, 0}), -5);
}

// A huge size makes a negative binomial a Poisson distribution, many degrees of freedom a t a normal one.
TEST_F(DensityTest, Limits) {
  const double negative = value(formula(cases()[4]), 3, {2, 1e7});
  EXPECT_NEAR(negative, value(formula(cases()[3]), 3, {2}), 1e-6);
  const double student = value(formula(cases()[1]), 0.4, {1e7, 0, 1});
  EXPECT_NEAR(student, value(formula(cases()[0]), 0.4, {0, 1}), 1e-6);
}
}  // namespace
}  // namespace mckean
