// The time grid of one level: every observation interval split into equal Euler steps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mckean/data.hpp"

namespace mckean {

inline constexpr int kHighestLevel = 20;

struct Grid {
  // An interval of length h gets c·2^level steps, c = max(1, round(h / unit)); level l − 1 is every second point
  // of level l. The times are those of all series together, since all share one law; unit = 0 takes the
  // median of their spacings.
  Grid(std::span<const double> times, int level, double unit = 0);

  std::size_t steps() const { return dt.size(); }

  int level;
  double unit;
  std::vector<double> time;         // of each point: steps() + 1 of them, from 0
  std::vector<double> dt;           // of each step
  std::vector<std::size_t> points;  // the grid point of each of the given times
};

// The distinct observation times of all series, in order.
std::vector<double> observation_times(const Data&);
}  // namespace mckean
