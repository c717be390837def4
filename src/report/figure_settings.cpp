#include "report/figure_settings.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mckean {

FigureSettings::FigureSettings(const TomlFile& file, const toml::table& table, std::string scale)
    : file_(file), table_(table), scale_(std::move(scale)) {}

const toml::node& FigureSettings::find(const std::string& key) const {
  if (const toml::table* scaled = table_[scale_].as_table())
    if (const toml::node* node = scaled->get(key)) return *node;
  if (const toml::node* node = table_.get(key)) return *node;
  file_.fail(table_, fmt::format("'{}' is missing here, and in the table '{}' of it", key, scale_));
}

void FigureSettings::fail(const std::string& key, const std::string& problem) const { file_.fail(find(key), problem); }

double FigureSettings::number(const std::string& key) {
  const double value = file_.number(find(key), fmt::format("'{}'", key));
  used_[key] = value;
  return value;
}

std::size_t FigureSettings::whole(const std::string& key, std::size_t least) {
  constexpr double kMost = 1e9;
  const double value = number(key);
  if (!(value >= static_cast<double>(least) && value <= kMost) || value != std::floor(value))
    fail(key, fmt::format("'{}' must be a whole number from {} to {:.0f}", key, least, kMost));
  return static_cast<std::size_t>(value);
}

std::string FigureSettings::text(const std::string& key) {
  const toml::node& node = find(key);
  if (!node.is_string()) file_.fail(node, fmt::format("'{}' must be text in quotes", key));
  used_[key] = node.as_string()->get();
  return node.as_string()->get();
}

std::vector<double> FigureSettings::numbers(const std::string& key) {
  const toml::node& node = find(key);
  if (!node.is_array()) file_.fail(node, fmt::format("'{}' must be an array of numbers", key));
  std::vector<double> values = file_.numbers(*node.as_array(), fmt::format("an entry of '{}'", key));
  used_[key] = values;
  return values;
}

void FigureSettings::refuse_others(std::vector<std::string> tables) const {
  std::vector<std::string> known = std::move(tables);
  known.insert(known.end(), {"quick", "paper"});
  for (const auto& [key, value] : used_.items()) known.push_back(key);
  file_.allow_keys(table_, known, "");
  if (const toml::table* scaled = table_[scale_].as_table()) file_.allow_keys(*scaled, known, " of " + scale_);
}
}  // namespace mckean
