// Parameters between bounds and their place on the whole line.
#include <gtest/gtest.h>

#include <cmath>

#include "mckean/model.hpp"

namespace mckean {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Parameter kFree{"p", 0}, kAbove{"p", 1, 0}, kFarAbove{"p", 101, 100}, kBelow{"p", -3, -kInf, 2},
    kBetween{"p", 0.5, -1, 3}, kUnit{"p", 0.5, 0, 1};
const Parameter* const kAll[] = {&kFree, &kAbove, &kFarAbove, &kBelow, &kBetween, &kUnit};

TEST(ParameterTest, LineToBoundsAndBack) {
  for (const Parameter* p : kAll)
    for (const double u : {-12.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.0, 11.0}) {
      const double theta = p->natural(u);
      EXPECT_TRUE(p->contains(theta));
      // θ is rounded to about 1e-16 of the larger bound; u feels that divided by the slope.
      const double lost = 1e-15 * std::max({1.0, std::abs(theta), std::abs(u)}) / std::abs(p->slope(u)) + 1e-14;
      EXPECT_NEAR(p->unconstrained(theta), u, 4 * lost) << p->lower << " " << p->upper;
    }
}

TEST(ParameterTest, BoundsToLineAndBack) {
  for (const Parameter* p : kAll)
    for (const double theta : {-50.0, -0.999, -0.5, 1e-200, 1e-9, 0.25, 0.5, 0.999999, 1.5, 2.9999, 100.5, 1e5, 1e200})
      if (p->contains(theta)) {
        const double u = p->unconstrained(theta);
        EXPECT_TRUE(std::isfinite(u));
        // e^u has a relative error of |u| roundings.
        EXPECT_NEAR(p->natural(u), theta,
                    4e-16 * (2 + std::abs(u)) * std::max(1e-200, std::abs(theta)) + (p->lower == 0 ? 0 : 1e-13));
      }
}

// A start may lie on a bound; the line has a point beside it.
TEST(ParameterTest, APointOnABoundIsTakenForOneBesideIt) {
  for (const Parameter* p : kAll)
    for (const double bound : {p->lower, p->upper}) {
      if (!std::isfinite(bound)) continue;
      EXPECT_TRUE(p->admits(bound));
      EXPECT_FALSE(p->contains(bound));
      EXPECT_TRUE(p->contains(p->natural(p->unconstrained(bound))));
    }
}

TEST(ParameterTest, SlopeIsTheDerivative) {
  for (const Parameter* p : kAll)
    for (const double u : {-5.0, -1.0, 0.0, 0.3, 2.0, 6.0}) {
      const double h = 1e-4, want = (p->natural(u + h) - p->natural(u - h)) / (2 * h);
      EXPECT_NEAR(p->slope(u), want, 1e-7 * std::abs(want) + 1e-9);
    }
}

// However far out, a step never leaves the bounds, and nothing is NaN.
TEST(ParameterTest, ExtremesStayWithinTheBounds) {
  for (const Parameter* p : kAll)
    for (const double u : {-1e308, -1e4, -745.2, -710.0, -40.0, 40.0, 710.0, 745.2, 1e4, 1e308}) {
      const double theta = p->natural(u);
      EXPECT_FALSE(std::isnan(theta));
      EXPECT_GE(theta, p->lower);
      EXPECT_LE(theta, p->upper);
      EXPECT_FALSE(std::isnan(p->slope(u)));
    }
  for (const Parameter* p : {&kBetween, &kUnit}) {
    EXPECT_EQ(p->slope(1e4), 0);
    double last = p->lower;
    for (double u = -50; u <= 50; u += 0.25) {
      EXPECT_GE(p->natural(u), last);  // monotone
      last = p->natural(u);
    }
  }
}

TEST(ParameterTest, KnownPlaces) {
  EXPECT_EQ(kFree.unconstrained(3.5), 3.5);
  EXPECT_EQ(kFree.natural(-7), -7);
  EXPECT_EQ(kAbove.unconstrained(1), 0);
  EXPECT_EQ(kAbove.natural(0), 1);
  EXPECT_EQ(kBelow.natural(0), 1);
  EXPECT_LT(kBelow.slope(0), 0);
  EXPECT_EQ(kUnit.natural(0), 0.5);
  EXPECT_EQ(kBetween.natural(0), 1);
  EXPECT_EQ(kUnit.slope(0), 0.25);
  EXPECT_FALSE(kUnit.contains(0));
  EXPECT_FALSE(kUnit.contains(1));
  EXPECT_FALSE(kUnit.contains(std::nan("")));
}
}  // namespace
}  // namespace mckean
