#include "model/toml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expr/parse.hpp"

namespace mckean {
namespace {

// The reader's own words may quote raw bytes of the file.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  return out;
}

// The parser of TOML says what it met; this says what to do about it.
std::string_view advice(std::string_view problem) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"control characters", "is the closing quote missing?"},
      {"end-of-file", "is a quote or a bracket not closed?"},
      {"redefine", "remove or rename one of the two"},
      {"parsing string", "close the quote, and write \\\\ for a backslash"},
      {"parsing floating-point", "numbers lie within the range of double precision"},
      {"64 bits", "write a large number with an exponent, as in 1e20"},
      {"parsing value", "a value is a number, or text in quotes"},
      {"parsing key-value pair", "write key = value, one on a line, with text in quotes"},
  };
  for (const auto& [part, text] : known)
    if (problem.find(part) != std::string_view::npos) return text;
  return "a model file has lines key = value under [section] headers";
}
}  // namespace

TomlFile::TomlFile(std::string_view text, const std::string& source) : text_(text, source) {
  text_.require_utf8();
  try {
    root_ = toml::parse(text_.text());
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    text_.fail(at.line, at.column,
               fmt::format("not TOML: {}; {}", printable(e.description()), advice(e.description())));
  }
}

TomlFile::Entries TomlFile::entries(const toml::table& table) {
  Entries out;
  for (const auto& [key, node] : table) out.push_back({std::string(key.str()), &node, key.source().begin});
  std::ranges::stable_sort(out, {}, [](const Entry& e) { return std::pair(e.key_begin.line, e.key_begin.column); });
  return out;
}

TomlFile::Entries TomlFile::section(const char* name) const {
  const toml::table* table = root_[name].as_table();
  return table ? entries(*table) : Entries{};
}

std::vector<std::string> TomlFile::keys(const char* name) const {
  std::vector<std::string> out;
  for (const Entry& e : section(name)) out.push_back(e.key);
  return out;
}

void TomlFile::fail(const toml::node& at, const std::string& message) const {
  text_.fail(at.source().begin.line, at.source().begin.column, message);
}

void TomlFile::fail(const Entry& entry, const std::string& message) const {
  text_.fail(entry.key_begin.line, entry.key_begin.column, message);
}

void TomlFile::fail_inside(const toml::node& at, std::size_t offset, const std::string& message) const {
  text_.fail_inside(at.source().begin.line, at.source().begin.column, at.as_string()->get(), offset, message);
}

void TomlFile::unknown_key(const Entry& entry, const std::vector<std::string>& known, const std::string& where) const {
  fail(entry, fmt::format("unknown key '{}'{}; {}", entry.key, where, suggestion(entry.key, known)));
}

void TomlFile::allow_keys(const toml::table& table, const std::vector<std::string>& known,
                          const std::string& where) const {
  for (const Entry& e : entries(table))
    if (std::ranges::find(known, e.key) == known.end()) unknown_key(e, known, where);
}

std::string TomlFile::text_at(const char* key, const std::string& otherwise) const {
  const toml::node* node = root_[key].node();
  if (!node) return otherwise;
  if (!node->is_string()) fail(*node, fmt::format("'{}' must be text in quotes", key));
  return node->as_string()->get();
}

double TomlFile::number(const toml::node& node, const std::string& what, bool finite) const {
  const auto v = node.is_number() ? node.value<double>() : std::nullopt;
  if (!v) fail(node, fmt::format("{} must be a number{}", what, node.is_string() ? ", without quotes" : ""));
  if (std::isnan(*v) || (finite && !std::isfinite(*v))) fail(node, fmt::format("{} must be a finite number", what));
  return *v;
}

std::vector<double> TomlFile::numbers(const toml::array& array, const std::string& what) const {
  std::vector<double> out;
  for (const auto& item : array) out.push_back(number(item, what));
  return out;
}
}  // namespace mckean
