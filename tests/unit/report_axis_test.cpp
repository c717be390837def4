#include "report/axis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/thin.hpp"

namespace mckean::report {
namespace {

std::string labels(const Axis& axis, std::size_t most) {
  std::string out;
  for (const Tick& t : ticks(axis, most)) out += (out.empty() ? "" : " ") + t.label;
  return out;
}

TEST(Ticks, RoundNumbers) {
  EXPECT_EQ(labels({0, 10}, 6), "0 2 4 6 8 10");
  EXPECT_EQ(labels({0, 1}, 6), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(labels({-0.3, 0.3}, 4), "−0.2 0.0 0.2");
  EXPECT_EQ(labels({0.4955, 0.4962}, 5), "0.4956 0.4958 0.4960 0.4962");
  EXPECT_EQ(labels({95, 105}, 3), "95 100 105");
  EXPECT_EQ(labels({0, 3e9}, 4), "0 10⁹ 2×10⁹ 3×10⁹");
  EXPECT_EQ(labels({0, 3e-9}, 4), "0 10⁻⁹ 2×10⁻⁹ 3×10⁻⁹");
}

TEST(Ticks, LogarithmicOnesArePowersOfTen) {
  EXPECT_EQ(labels({1, 1e6, true}, 8), "1 10 100 10³ 10⁴ 10⁵ 10⁶");
  EXPECT_EQ(labels({1, 1e6, true}, 4), "1 100 10⁴ 10⁶");
  EXPECT_EQ(labels({1, 20, true}, 6), "1 2 5 10 20");
  EXPECT_EQ(labels({2.1, 2.9, true}, 5), "2.2 2.4 2.6 2.8");
}

// Whatever the axis: between 2 and `most` ticks, within it, increasing, evenly spaced, with labels that differ.
TEST(Ticks, Always) {
  for (const double scale : {1e-12, 1e-3, 1.0, 7.3, 1e5, 1e15})
    for (const double centre : {0.0, 1.0, -3.7, 1e4})
      for (const double width : {0.01, 0.5, 1.0, 30.0})
        for (std::size_t most = 2; most < 10; ++most) {
          const Axis axis{scale * (centre - width), scale * (centre + width)};
          const auto all = ticks(axis, most);
          ASSERT_GE(all.size(), 1u) << axis.low << " " << axis.high;
          ASSERT_LE(all.size(), most);
          for (std::size_t k = 0; k < all.size(); ++k) {
            EXPECT_TRUE(axis.place(all[k].value) > -1e-9 && axis.place(all[k].value) < 1 + 1e-9);
            if (k > 0) {
              EXPECT_NE(all[k].label, all[k - 1].label) << axis.low << " " << axis.high << " " << most;
            }
            if (k > 1) {
              EXPECT_NEAR(axis.place(all[k].value) - axis.place(all[k - 1].value),
                          axis.place(all[1].value) - axis.place(all[0].value), 1e-6);
            }
          }
        }
}

TEST(Axes, ContainTheirValues) {
  const double nan = std::nan("");
  for (const bool log : {false, true})
    for (const std::vector<double>& values : {std::vector<double>{1, 2, nan, 40}, {3}, {}, {0, 0}, {-1, 5, INFINITY}}) {
      const Axis axis = axis_around(values, log);
      ASSERT_LT(axis.low, axis.high);
      for (const double v : values)
        if (axis.shows(v)) {
          EXPECT_TRUE(axis.place(v) > 0 && axis.place(v) < 1) << v;
        }
      EXPECT_FALSE(axis.shows(nan));
    }
}

TEST(Thinning, KeepsWhatStandsOut) {
  Points all;
  for (int i = 0; i < 10000; ++i) all.emplace_back(i, i == 4321 ? 9.0 : i == 77 ? -9.0 : std::sin(i));
  const Points few = thinned(all, 400);
  EXPECT_LE(few.size(), 400u);
  EXPECT_EQ(few.front(), all.front());
  EXPECT_EQ(few.back(), all.back());
  EXPECT_TRUE(std::ranges::is_sorted(few));
  EXPECT_NE(std::ranges::find(few, all[4321]), few.end());
  EXPECT_NE(std::ranges::find(few, all[77]), few.end());
  EXPECT_EQ(thinned(few, 400), few);
}

TEST(Thinning, SpreadHasBothEnds) {
  EXPECT_EQ(spread(100, 4), (std::vector<std::size_t>{0, 33, 66, 99}));
  EXPECT_EQ(spread(3, 4), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(spread(5, 1), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(spread(0, 4).empty());
  EXPECT_TRUE(spread_log(0, 5).empty());
  EXPECT_EQ(spread_log(1000, 4), (std::vector<std::size_t>{1, 10, 100, 1000}));
  EXPECT_EQ(spread_log(3, 60), (std::vector<std::size_t>{1, 2, 3}));
}
}  // namespace
}  // namespace mckean::report
