// Data on a grid: when each series is observed.
#pragma once

#include "problem/grid.hpp"

namespace mckean {

struct Schedule {
  struct Visit {
    std::size_t point, row;  // of the grid, of the series
  };
  Schedule(const Data&, int level, double unit, Scheme = Scheme::euler);

  const Data& data;
  Grid grid;
  std::vector<std::vector<Visit>> visits;  // series by series, in order of time
  std::vector<std::vector<Visit>> stops;   // those at which something is observed, and the last one in any case

  bool observed(std::size_t series, const Visit&) const;  // any value

  std::span<const double> values(std::size_t series, const Visit& v) const {
    const std::size_t width = data.columns.size();
    return std::span(data.series[series].values).subspan(v.row * width, width);
  }
  std::string where(std::size_t series, const Visit&) const;  // "file:12: t = 3, series a"
};
}  // namespace mckean
