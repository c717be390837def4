// Settings of one table of a figure's configuration: its entries, and those of its table `quick` or `paper`, which
// come first.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/toml_file.hpp"

namespace mckean {

class FigureSettings {
 public:
  FigureSettings(const TomlFile&, const toml::table&, std::string scale);

  // Each throws InputError where the entry is missing or of another kind; what was read is in used().
  double number(const std::string& key);
  std::size_t whole(const std::string& key, std::size_t least);
  std::string text(const std::string& key);
  std::vector<double> numbers(const std::string& key);

  // Entries that nobody has read, but for these tables.
  void refuse_others(std::vector<std::string> tables = {}) const;
  const nlohmann::ordered_json& used() const { return used_; }  // what makes one study differ from another
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const;

 private:
  const toml::node& find(const std::string& key) const;

  const TomlFile& file_;
  const toml::table& table_;
  std::string scale_;
  nlohmann::ordered_json used_ = nlohmann::ordered_json::object();
};
}  // namespace mckean
