#include "mckean/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "expr/names.hpp"
#include "expr/utf8.hpp"
#include "mckean/error.hpp"
#include "model/csv.hpp"
#include "model/number.hpp"
#include "model/source_text.hpp"

namespace mckean {
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) out += (i ? ", " : "") + shown(names[i]);
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out;
}

class Header {
 public:
  Header(CsvRow row, std::string source, const std::vector<std::string>& columns)
      : source_(std::move(source)), line_(row.line), names_(std::move(row.fields)), columns_(columns) {
    refuse_numbers();
    refuse_duplicates();
    time = find("t");
    series = position("series");
    for (const std::string& column : columns) values.push_back(find(column));
  }

  std::size_t size() const { return names_.size(); }

  // What the header may have meant by a name that it does not have; empty if nothing.
  std::string meant(std::string_view name) const {
    std::vector<std::string> unused;
    for (const std::string& n : names_)
      if (n != "t" && n != "series" && std::find(columns_.begin(), columns_.end(), n) == columns_.end())
        unused.push_back(n);
    return nearest(name, unused);
  }

  std::size_t time;
  std::optional<std::size_t> series;
  std::vector<std::size_t> values;  // in the model's order

 private:
  std::optional<std::size_t> position(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
  }

  std::size_t find(const std::string& name) const {
    if (const auto found = position(name)) return *found;
    const std::string similar = meant(name);
    const std::string advice = similar.empty()
                                   ? fmt::format("add it, or rename the column that holds {}",
                                                 name == "t" ? "the times" : "these observations")
                                   : fmt::format("did you mean {}? Rename it to {}", shown(similar), shown(name));
    fail_at(source_, line_,
            fmt::format("column {} is missing, the header has {}; {}", shown(name), listed(names_), advice));
  }

  void refuse_numbers() const {
    bool numbers = false;
    for (const std::string& name : names_) {
      if (is_missing(name)) continue;
      if (!parse_number(name).problem.empty()) return;
      numbers = true;
    }
    if (!numbers) return;
    std::string example = "t";
    for (std::size_t i = 0; i < std::min<std::size_t>(columns_.size(), 3); ++i) example += "," + columns_[i];
    fail_at(source_, line_,
            fmt::format("the first row holds numbers, not the names of columns; put a header above it, such "
                        "as {}",
                        example));
  }

  // Columns without a name are ignored, however many there are.
  void refuse_duplicates() const {
    std::unordered_map<std::string_view, std::size_t> seen;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty()) continue;
      if (const auto [first, fresh] = seen.emplace(names_[i], i); !fresh)
        fail_at(source_, line_,
                fmt::format("columns {} and {} are both named {}; rename or remove one", first->second + 1, i + 1,
                            shown(names_[i])));
    }
  }

  std::string source_;
  int line_;
  std::vector<std::string> names_;
  std::vector<std::string> columns_;
};

double read_time(const std::string& text, const std::string& source, int line) {
  if (is_missing(text))
    fail_at(source, line,
            fmt::format("the time is missing ({}); give each row a time t, or remove the row",
                        text.empty() ? "an empty field" : shown(text)));
  const Number number = parse_number(text);
  if (!number.problem.empty())
    fail_at(source, line,
            fmt::format("column 't': {}; a time is a finite decimal number >= 0, such as 0.5", number.problem));
  if (number.value < 0)
    fail_at(source, line,
            fmt::format("the time {} is negative, but the process starts at t = 0; shift the times so that "
                        "none is below 0",
                        number.value));
  return number.value;
}

double read_value(const std::string& text, const std::string& column, const std::string& source, int line) {
  if (is_missing(text)) return std::numeric_limits<double>::quiet_NaN();
  const Number number = parse_number(text);
  if (!number.problem.empty())
    fail_at(source, line,
            fmt::format("column {}: {}; write a finite decimal number such as 1.5, or leave the field empty if "
                        "nothing was observed",
                        shown(column), number.problem));
  return number.value;
}

void check_order(const Series& series, double time, const Header& header, const std::string& source, int line) {
  if (series.times.empty() || series.times.back() < time) return;
  const double last = series.times.back();
  const std::string where = series.name.empty() ? "" : " of series " + shown(series.name);
  std::string advice = last == time ? "keep one row for each time" : "sort the rows by time";
  if (!header.series) {
    const std::string similar = header.meant("series");
    advice += similar.empty() ? ", or tell several series apart by a column 'series'"
                              : fmt::format(", or rename {} to 'series'", shown(similar));
  }
  fail_at(source, line,
          fmt::format("the time {} {} {} of line {}{}; {}", time,
                      last == time ? "repeats the time" : "comes after the later time", last, series.lines.back(),
                      where, advice));
}

void check_size(const CsvRow& row, const Header& header, const std::string& source) {
  const std::size_t found = row.fields.size();
  if (found == header.size()) return;
  fail_at(source, row.line,
          fmt::format("{} field{}, but the header has {}; {}", found, found == 1 ? "" : "s", header.size(),
                      found < header.size() ? "leave a field empty, with its comma, where nothing was observed"
                                            : "remove stray commas and write decimals with a point"));
}
}  // namespace

Data parse_data(std::string_view text, const std::string& source, const std::vector<std::string>& columns) {
  CsvReader reader(text, source);
  CsvRow row;
  if (!reader.next(row))
    throw InputError(fmt::format("{}: the file is empty; it needs a header and rows of observations", source));
  const int header_line = row.line;
  const Header header(std::move(row), source, columns);

  Data data{source, columns, {}};
  std::unordered_map<std::string, std::size_t> index;
  bool observed = false;
  row = {};
  while (reader.next(row)) {
    check_size(row, header, source);
    const std::string label = header.series ? row.fields[*header.series] : "";
    if (header.series && label.empty())
      fail_at(source, row.line, "the series has no label; write one in the column 'series'");
    const auto [place, fresh] = index.emplace(label, data.series.size());
    if (fresh) data.series.push_back({label, {}, {}, {}});
    Series& series = data.series[place->second];

    const double time = read_time(row.fields[header.time], source, row.line);
    check_order(series, time, header, source, row.line);
    series.times.push_back(time);
    series.lines.push_back(row.line);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      series.values.push_back(read_value(row.fields[header.values[i]], columns[i], source, row.line));
      observed = observed || !std::isnan(series.values.back());
    }
  }
  if (data.series.empty())
    fail_at(source, header_line, "a header without rows; add at least one row of observations below it");
  if (!observed)
    throw InputError(
        fmt::format("{}: nothing is observed, every value of {} is missing; give at least one "
                    "number",
                    source, listed(columns)));
  return data;
}

Data read_data(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  return parse_data(read_text(file), file.string(), columns);
}
}  // namespace mckean
