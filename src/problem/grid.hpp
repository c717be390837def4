// The time grid of one level: every observation interval split into equal steps.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mckean/data.hpp"
#include "mckean/scheme.hpp"

namespace mckean {

inline constexpr int kHighestLevel = 20;

// One normal step of a path: the drift acts over `flow`, then noise of `variance` times σσᵀ is added. Euler's are
// (t, Δ, Δ); those of a splitting between two observations (t, 0, Δ/2), (t, Δ, Δ), (t + Δ, Δ, Δ), …, (·, Δ, Δ/2).
struct StepTime {
  double t, flow, variance;
  double root() const { return std::sqrt(variance); }
};

struct Grid {
  // An interval of length h gets c·2^level steps, c = max(1, round(h / unit)); level l − 1 is every second point
  // of level l. The times are those of all series together, since all share one law; unit = 0 takes the
  // median of their spacings. A splitting has one normal step more in each interval, without flow, whose ends have the
  // same time.
  Grid(std::span<const double> times, int level, double unit = 0, Scheme = Scheme::euler);

  std::size_t steps() const { return step.size(); }

  int level;
  Scheme scheme;
  double unit;
  std::vector<double> time;         // of each point: steps() + 1 of them, from 0
  std::vector<StepTime> step;       // from each point to the next
  std::vector<std::size_t> points;  // the grid point of each of the given times

 private:
  void add_interval(double to, std::size_t n);
};

// The same steps where the noises of neighbouring ones are two: every flow then ends in a state of the process, at
// which a splitting's own grid arrives at observations alone. Level l − 1 is every second point here as well.
Grid with_states_between(const Grid&);

// The distinct observation times of all series, in order.
std::vector<double> observation_times(const Data&);
}  // namespace mckean
