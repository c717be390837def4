#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "mckean/data.hpp"
#include "mckean/error.hpp"

namespace mckean {

Data Data::of(std::vector<double> times, std::vector<double> values, std::vector<std::string> columns) {
  if (times.empty()) throw InputError("data without rows; give at least one time");
  if (columns.empty() || values.size() != times.size() * columns.size())
    throw InputError(fmt::format("{} values for {} times and {} columns; give one for each time and column",
                                 values.size(), times.size(), columns.size()));
  for (std::size_t row = 0; row < times.size(); ++row)
    if (!std::isfinite(times[row]) || times[row] < 0 || (row > 0 && times[row] <= times[row - 1]))
      throw InputError(fmt::format("row {}: the time {}; times are finite, >= 0 and increase", row + 1, times[row]));
  bool observed = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i]))
      throw InputError(
          fmt::format("row {}: an infinite value; NaN says that nothing was observed", i / columns.size() + 1));
    observed = observed || !std::isnan(values[i]);
  }
  if (!observed) throw InputError("nothing is observed, every value is missing; give at least one number");
  std::vector<int> lines(times.size());
  std::iota(lines.begin(), lines.end(), 1);
  return {"data", std::move(columns), {{"", std::move(times), std::move(values), std::move(lines)}}};
}
}  // namespace mckean
