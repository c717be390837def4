// The time grid of one level: every observation interval split into equal Euler steps.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mckean/data.hpp"

namespace mckean {

inline constexpr int kHighestLevel = 20;

// One step of a path: the drift acts over `flow`, the noise has `variance` times σσᵀ. Euler's: (t, Δ, Δ).
struct StepTime {
  double t, flow, variance;
  double root() const { return std::sqrt(variance); }
};

struct Grid {
  // An interval of length h gets c·2^level steps, c = max(1, round(h / unit)); level l − 1 is every second point
  // of level l. The times are those of all series together, since all share one law; unit = 0 takes the
  // median of their spacings.
  Grid(std::span<const double> times, int level, double unit = 0);

  std::size_t steps() const { return step.size(); }

  int level;
  double unit;
  std::vector<double> time;         // of each point: steps() + 1 of them, from 0
  std::vector<StepTime> step;       // from each point to the next
  std::vector<std::size_t> points;  // the grid point of each of the given times
};

// The distinct observation times of all series, in order.
std::vector<double> observation_times(const Data&);
}  // namespace mckean
