// lgamma and polygamma against known values and identities.
#include "expr/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mckean {
namespace {

constexpr double kPi = 3.14159265358979323846, kZeta3 = 1.20205690315959428540;

void expect_close(double got, double want) { EXPECT_NEAR(got, want, 1e-14 * std::fabs(want)); }

TEST(Special, PolygammaAtKnownPoints) {
  const double euler = 0.57721566490153286061;
  expect_close(polygamma(0, 1), -euler);
  expect_close(polygamma(0, 0.5), -euler - 2 * std::log(2.0));
  expect_close(polygamma(0, -0.5), 2 - euler - 2 * std::log(2.0));
  expect_close(polygamma(0, 1e10), std::log(1e10) - 0.5e-10);
  expect_close(polygamma(0, 1e-300), -1e300);
  expect_close(polygamma(1, 1), kPi * kPi / 6);
  expect_close(polygamma(1, 0.5), kPi * kPi / 2);
  expect_close(polygamma(1, -0.5), kPi * kPi / 2 + 4);
  expect_close(polygamma(2, 1), -2 * kZeta3);
  expect_close(polygamma(2, 0.5), -14 * kZeta3);
  expect_close(polygamma(3, 1), std::pow(kPi, 4) / 15);
  expect_close(polygamma(5, 1), 8 * std::pow(kPi, 6) / 63);
}

// psi_n(x + 1) = psi_n(x) + (-1)^n n! x^-(n+1)
TEST(Special, PolygammaObeysItsRecurrence) {
  for (int n : {0, 1, 2, 3, 7, 20})
    for (double x : {0.1, 0.7, 1.3, 5.0, 19.5, 37.0, 400.0}) {
      const double step = (n % 2 == 0 ? 1 : -1) * std::tgamma(n + 1.0) * std::pow(x, -n - 1);
      EXPECT_NEAR(polygamma(n, x + 1), polygamma(n, x) + step, 1e-14 * (std::fabs(polygamma(n, x)) + std::fabs(step)));
    }
}

TEST(Special, PolygammaIsTheDerivativeOfTheOrderBelow) {
  for (int n : {0, 1, 2, 4})
    for (double x : {0.8, 3.0, 25.0}) {
      const double h = 1e-4 * x;
      EXPECT_NEAR((polygamma(n, x + h) - polygamma(n, x - h)) / (2 * h) / polygamma(n + 1, x), 1, 1e-6);
    }
}

TEST(Special, PolygammaRefusesWhatItDoesNotHave) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (double x : {0.0, -0.0, -1.0, -7.0, -inf, nan})
    for (int n : {0, 1, 2}) EXPECT_TRUE(std::isnan(polygamma(n, x))) << n << " " << x;
  for (double n : {-1.0, 0.5, nan, inf}) EXPECT_TRUE(std::isnan(polygamma(n, 1)));
  EXPECT_TRUE(std::isnan(polygamma(2, -0.5)));
  EXPECT_EQ(polygamma(0, inf), inf);
  EXPECT_EQ(polygamma(1, inf), 0);
}

TEST(Special, LogGamma) {
  expect_close(log_gamma(0.5), 0.5 * std::log(kPi));
  expect_close(log_gamma(-0.5), std::log(2 * std::sqrt(kPi)));
  EXPECT_EQ(log_gamma(2), 0);
}
}  // namespace
}  // namespace mckean
