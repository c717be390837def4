#include "problem/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/error.hpp"

namespace mckean {
namespace {

// More steps than any memory holds; the counter of the noise has 32 bits.
constexpr double kMostSteps = 1e9;

double median_spacing(std::span<const double> times) {
  if (times.size() == 1) return times[0] > 0 ? times[0] : 1;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  std::ranges::sort(gaps);
  const std::size_t half = gaps.size() / 2;
  return gaps.size() % 2 ? gaps[half] : 0.5 * (gaps[half - 1] + gaps[half]);
}
}  // namespace

std::vector<double> observation_times(const Data& data) {
  std::vector<double> times;
  for (const auto& s : data.series) times.insert(times.end(), s.times.begin(), s.times.end());
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

Grid::Grid(std::span<const double> times, int l, double u, Scheme of)
    : level(l), scheme(of), unit(u > 0 ? u : median_spacing(times)), time{0} {
  if (level < 0 || level > kHighestLevel)
    throw InputError(
        fmt::format("level {} is outside 0 to {}; a unit of time is split into 2^level steps", level, kHighestLevel));
  double last = 0, total = 0;
  for (const double t : times) {
    if (t > last) total += std::ldexp(std::max(1.0, std::round((t - last) / unit)), level);
    last = t;
  }
  if (total > kMostSteps)
    throw InputError(fmt::format(
        "level {} needs {:.3g} steps in all, more than {:.0g}; lower the level, or take a longer unit of time", level,
        total, kMostSteps));
  for (const double t : times) {
    const double h = t - time.back();
    if (h > 0) add_interval(t, static_cast<std::size_t>(std::ldexp(std::max(1.0, std::round(h / unit)), level)));
    points.push_back(steps());
  }
}

void Grid::add_interval(double to, std::size_t n) {
  const double from = time.back(), h = to - from, dt = h / static_cast<double>(n);
  const bool halves = scheme == Scheme::splitting;
  if (halves) {
    step.push_back({from, 0, dt / 2});
    time.push_back(from);
  }
  for (std::size_t i = 1; i <= n; ++i) {
    step.push_back({time.back(), dt, halves && i == n ? dt / 2 : dt});
    time.push_back(i == n ? to : from + h * static_cast<double>(i) / static_cast<double>(n));
  }
}

Grid with_states_between(const Grid& grid) {
  if (grid.scheme == Scheme::euler) return grid;
  Grid out = grid;
  out.time = {0};
  out.step.clear();
  std::vector<std::size_t> point{0};  // of each of the given grid
  for (std::size_t k = 0; k < grid.steps(); ++k) {
    const auto [t, flow, variance] = grid.step[k];
    if (flow > 0) {
      out.step.insert(out.step.end(), {{t, 0, flow / 2}, {t, flow, flow / 2}});
      out.time.insert(out.time.end(), {t, grid.time[k + 1]});
    }
    point.push_back(out.steps());
  }
  for (std::size_t& p : out.points) p = point[p];
  return out;
}
}  // namespace mckean
