// Observations: one or several series of rows (time, values), where a value may be missing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mckean {

struct Series {
  std::string name;            // what the `series` column says; empty if there is none
  std::vector<double> times;   // strictly increasing, >= 0
  std::vector<double> values;  // row by row, one per observed column; NaN means not observed
  std::vector<int> lines;      // where each row stands in its file, for messages
};

struct Data {
  std::string source;                // the file's name, for messages
  std::vector<std::string> columns;  // the observed columns, in the model's order
  std::vector<Series> series;

  // One series that is at hand: values row by row, NaN where not observed. Throws InputError.
  static Data of(std::vector<double> times, std::vector<double> values, std::vector<std::string> columns = {"y"});

  double value(std::size_t s, std::size_t row, std::size_t column) const {
    return series[s].values[row * columns.size() + column];
  }
};

// CSV with a header: `t`, the given columns in any order, optionally `series`; other columns are ignored.
// Empty, NA and nan (in any case) mean not observed. Throws InputError naming source, line and cause.
Data parse_data(std::string_view text, const std::string& source, const std::vector<std::string>& columns);
Data read_data(const std::filesystem::path& file, const std::vector<std::string>& columns);
}  // namespace mckean
