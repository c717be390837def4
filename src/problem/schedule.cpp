#include "problem/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mckean {

Schedule::Schedule(const Data& d, int level, double unit, Scheme scheme)
    : data(d), grid(observation_times(d), level, unit, scheme) {
  const std::vector<double> times = observation_times(d);
  for (const auto& s : d.series) {
    visits.emplace_back();
    for (std::size_t row = 0; row < s.times.size(); ++row) {
      const auto at = std::ranges::lower_bound(times, s.times[row]) - times.begin();
      visits.back().push_back({grid.points[static_cast<std::size_t>(at)], row});
    }
    stops.emplace_back();
    for (const Visit& v : visits.back())
      if (v.row + 1 == s.times.size() || observed(visits.size() - 1, v)) stops.back().push_back(v);
  }
}

bool Schedule::observed(std::size_t series, const Visit& v) const {
  return std::ranges::any_of(values(series, v), [](double y) { return !std::isnan(y); });
}

std::string Schedule::where(std::size_t series, const Visit& v) const {
  const Series& s = data.series[series];
  return fmt::format("{}:{}: t = {:.6g}{}", data.source, s.lines[v.row], s.times[v.row],
                     s.name.empty() ? "" : ", series " + s.name);
}
}  // namespace mckean
