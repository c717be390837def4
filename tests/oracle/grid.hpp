// The time grid: the observation times of all series, and the Euler steps between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <vector>

#include "mckean/data.hpp"

namespace oracle {

// The level at which Euler steps are replaced by the exact transitions of continuous time.
inline constexpr int continuous = -1;

struct Grid {
  static constexpr std::ptrdiff_t none = -1;

  std::vector<double> times;     // times[0] = 0, one for each grid point
  std::vector<double> dt;        // dt[k] = times[k + 1] - times[k]
  std::vector<double> observed;  // distinct observation times of all series
  std::vector<std::size_t> at;   // at[j] is the grid point of observed[j]
  // rows[s][k]: the row of series s at grid point k, or none.
  std::vector<std::vector<std::ptrdiff_t>> rows;

  std::size_t size() const { return times.size(); }
};

// The median of the gaps between consecutive distinct times; of an even number, the mean of the middle two.
inline double median_spacing(const std::vector<double>& distinct) {
  if (distinct.empty()) throw std::invalid_argument("no observation times");
  if (distinct.size() == 1) return distinct[0] > 0 ? distinct[0] : 1.0;
  std::vector<double> gap;
  for (std::size_t j = 1; j < distinct.size(); ++j) gap.push_back(distinct[j] - distinct[j - 1]);
  std::sort(gap.begin(), gap.end());
  const std::size_t half = gap.size() / 2;
  return gap.size() % 2 == 1 ? gap[half] : 0.5 * (gap[half - 1] + gap[half]);
}

inline std::vector<double> distinct_times(const mckean::Data& data) {
  std::vector<double> all;
  for (const auto& series : data.series) all.insert(all.end(), series.times.begin(), series.times.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// An interval of length h gets c 2^level equal steps, c = max(1, round(h / unit)).
// At level `continuous` it gets the c steps of level 0.
inline Grid make_grid(const mckean::Data& data, int level) {
  Grid grid;
  grid.observed = distinct_times(data);
  const double unit = median_spacing(grid.observed);
  const double split = level == continuous ? 1.0 : std::ldexp(1.0, level);

  grid.times.push_back(0.0);
  double last = 0.0;
  for (const double time : grid.observed) {
    const double h = time - last;
    if (h > 0) {
      const double steps = std::max(1.0, std::round(h / unit)) * split;
      for (double k = 1; k < steps; ++k) grid.times.push_back(last + h * (k / steps));
      grid.times.push_back(time);
      grid.dt.resize(grid.times.size() - 1, h / steps);
    }
    grid.at.push_back(grid.times.size() - 1);
    last = time;
  }

  std::map<double, std::size_t> point;
  for (std::size_t j = 0; j < grid.observed.size(); ++j) point[grid.observed[j]] = grid.at[j];
  for (const auto& series : data.series) {
    auto& rows = grid.rows.emplace_back(grid.size(), Grid::none);
    for (std::size_t row = 0; row < series.times.size(); ++row) {
      rows[point.at(series.times[row])] = static_cast<std::ptrdiff_t>(row);
    }
  }
  return grid;
}

}  // namespace oracle
