// Time grids: c·2^level steps an interval, c = max(1, round(h/unit)).
#include "problem/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mckean/error.hpp"

namespace mckean {
namespace {

using Times = std::vector<double>;

// What holds of every grid.
void expect_sound(const Grid& g, const Times& times) {
  ASSERT_EQ(g.time.size(), g.steps() + 1);
  ASSERT_EQ(g.points.size(), times.size());
  EXPECT_EQ(g.time[0], 0);
  for (std::size_t k = 0; k < g.steps(); ++k) {
    EXPECT_EQ(g.step[k].t, g.time[k]);
    EXPECT_GT(g.step[k].flow, 0);
    EXPECT_EQ(g.step[k].variance, g.step[k].flow);
    EXPECT_GT(g.time[k + 1], g.time[k]);
    EXPECT_NEAR(g.time[k + 1] - g.time[k], g.step[k].flow, 1e-14 * std::max(1.0, g.time[k + 1]));
  }
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(g.time[g.points[i]], times[i]);  // to the bit
  EXPECT_EQ(g.points.back(), g.steps());
}

TEST(Grid, UnitTimes) {
  const Times times{1, 2, 3, 4};
  for (int level = 0; level <= 6; ++level) {
    const Grid g(times, level);
    expect_sound(g, times);
    EXPECT_EQ(g.unit, 1);
    EXPECT_EQ(g.steps(), 4u << level);
    for (const StepTime& s : g.step) EXPECT_EQ(s.flow, std::ldexp(1.0, -level));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(g.points[i], (i + 1) << level);
  }
}

TEST(Grid, IrregularTimes) {
  const Times times{0.2, 1.2, 2.2, 4.7, 4.8, 5.8};  // gaps 1, 1, 2.5, 0.1, 1: the median is 1
  const Grid g(times, 2);
  expect_sound(g, times);
  EXPECT_NEAR(g.unit, 1, 1e-15);
  // c = 1, 1, 1, 2 or 3 (2.5 rounds up), 1, 1
  EXPECT_EQ(g.points, (std::vector<std::size_t>{4, 8, 12, 24, 28, 32}));
  EXPECT_NEAR(g.step[0].flow, 0.05, 1e-15);
  EXPECT_NEAR(g.step[12].flow, 2.5 / 12, 1e-15);
  EXPECT_NEAR(g.step[24].flow, 0.1 / 4, 1e-15);
}

TEST(Grid, ALongFirstIntervalGetsItsShare) {
  const Times times{10, 11, 12};
  const Grid g(times, 1);
  expect_sound(g, times);
  EXPECT_EQ(g.points, (std::vector<std::size_t>{20, 22, 24}));
}

TEST(Grid, AnObservationAtTimeZeroIsTheFirstPoint) {
  const Times times{0, 1, 2};
  const Grid g(times, 3);
  expect_sound(g, times);
  EXPECT_EQ(g.points, (std::vector<std::size_t>{0, 8, 16}));
  const Grid only(Times{0}, 3);
  EXPECT_EQ(only.steps(), 0u);
  EXPECT_EQ(only.points, (std::vector<std::size_t>{0}));
  EXPECT_EQ(only.unit, 1);
}

TEST(Grid, OneTimeIsItsOwnUnit) {
  const Grid g(Times{2.5}, 2);
  EXPECT_EQ(g.unit, 2.5);
  EXPECT_EQ(g.steps(), 4u);
}

TEST(Grid, TheUnitIsTheMedianOrWhatIsAsked) {
  EXPECT_EQ(Grid(Times{1, 2, 5}, 0).unit, 2);           // of two gaps their mean
  EXPECT_EQ(Grid(Times{1, 2, 4, 104}, 0).unit, 2);      // the long gap does not matter
  EXPECT_EQ(Grid(Times{1, 2, 3}, 0, 0.5).steps(), 6u);  // asked for
  EXPECT_EQ(Grid(Times{1, 2, 3}, 1, 10).steps(), 6u);   // never less than one a gap
}

TEST(Grid, EachCoarserLevelIsEverySecondPoint) {
  for (const Times& times : {Times{1, 2, 3}, Times{0, 0.3, 1.7, 1.71, 9.1}, Times{0.1, 0.2, 0.3, 0.7}, Times{1e-3, 7}})
    for (int level = 1; level <= 7; ++level) {
      const Grid fine(times, level), coarse(times, level - 1);
      ASSERT_EQ(fine.steps(), 2 * coarse.steps());
      for (std::size_t k = 0; k <= coarse.steps(); ++k)
        EXPECT_NEAR(coarse.time[k], fine.time[2 * k], 1e-15 * std::max(1.0, coarse.time[k]));
      for (std::size_t k = 0; k < coarse.steps(); ++k) EXPECT_EQ(coarse.step[k].flow, 2 * fine.step[2 * k].flow);
      for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(2 * coarse.points[i], fine.points[i]);
    }
}

// Between two observations: half of a step's noise, flows of equal length with whole ones between, and half of one.
TEST(Grid, OfASplitting) {
  const Times times{1, 3};
  const Grid g(times, 1, 1.0, Scheme::splitting);
  EXPECT_EQ(g.points, (std::vector<std::size_t>{3, 8}));
  const std::vector<double> flow{0, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5},
      variance{0.25, 0.5, 0.25, 0.25, 0.5, 0.5, 0.5, 0.25}, start{0, 0, 0.5, 1, 1, 1.5, 2, 2.5};
  ASSERT_EQ(g.steps(), flow.size());
  for (std::size_t k = 0; k < g.steps(); ++k) {
    EXPECT_DOUBLE_EQ(g.step[k].flow, flow[k]) << k;
    EXPECT_DOUBLE_EQ(g.step[k].variance, variance[k]) << k;
    EXPECT_DOUBLE_EQ(g.step[k].t, start[k]) << k;
    EXPECT_DOUBLE_EQ(g.time[k + 1], start[k] + flow[k]) << k;
  }
}

TEST(Grid, SeriesShareTheirTimes) {
  Data data;
  data.series.resize(2);
  data.series[0].times = {1, 2, 4};
  data.series[1].times = {0, 2, 3};
  EXPECT_EQ(observation_times(data), (Times{0, 1, 2, 3, 4}));
}

TEST(Grid, RefusesLevelsAndLengthsThatNothingHolds) {
  EXPECT_THROW(Grid(Times{1, 2}, -1), InputError);
  EXPECT_THROW(Grid(Times{1, 2}, kHighestLevel + 1), InputError);
  EXPECT_THROW(Grid((Times{1, 2, 3, 1e6}), 12), InputError);
}

// Every flow has the noise of half a step before it and after it; every second point is one of the next coarser level.
TEST(Grid, StatesBetweenOfSplittings) {
  const Times times{0, 0.2, 1.2, 2.2, 4.7};
  const Grid merged(times, 2, 0, Scheme::splitting), g = with_states_between(merged);
  ASSERT_EQ(g.steps() % 2, 0u);
  ASSERT_EQ(g.time.size(), g.steps() + 1);
  double flow = 0, variance = 0, merged_variance = 0;
  for (const StepTime& s : merged.step) merged_variance += s.variance;
  for (std::size_t k = 0; k < g.steps(); ++k) {
    const StepTime& s = g.step[k];
    EXPECT_EQ(s.t, g.time[k]);
    EXPECT_EQ(s.flow > 0, k % 2 == 1);
    if (s.flow > 0) {
      EXPECT_EQ(s.variance, s.flow / 2);
      EXPECT_EQ(g.step[k - 1].variance, s.variance);
      EXPECT_EQ(g.step[k - 1].t, s.t);
    }
    flow += s.flow, variance += s.variance;
  }
  EXPECT_NEAR(flow, 4.7, 1e-12);
  EXPECT_NEAR(variance, merged_variance, 1e-12);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(g.time[g.points[i]], times[i]);
  const Grid coarse = with_states_between(Grid(times, 1, 0, Scheme::splitting));
  ASSERT_EQ(2 * coarse.steps(), g.steps());
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(g.points[i], 2 * coarse.points[i]);
  EXPECT_EQ(with_states_between(Grid(times, 2)).time, Grid(times, 2).time);
}
}  // namespace
}  // namespace mckean
