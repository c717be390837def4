// A TOML text whose entries are read one by one, with complaints that show the place.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/source_text.hpp"

namespace mckean {

class TomlFile {
 public:
  struct Entry {
    std::string key;
    const toml::node* node;
    toml::source_position key_begin;
  };
  using Entries = std::vector<Entry>;

  TomlFile(std::string_view text, const std::string& source);  // throws InputError where the text is not TOML

  const toml::table& root() const { return root_; }
  std::string stem() const { return text_.stem(); }

  // In the order of the file: the order of the states is that of a matrix's rows.
  static Entries entries(const toml::table&);
  Entries section(const char* name) const;
  std::vector<std::string> keys(const char* section) const;

  [[noreturn]] void fail(const std::string& message) const { text_.fail(message); }
  [[noreturn]] void fail(const toml::node& at, const std::string& message) const;
  [[noreturn]] void fail(const Entry&, const std::string& message) const;  // at its key
  // At byte `offset` of a text in quotes.
  [[noreturn]] void fail_inside(const toml::node& at, std::size_t offset, const std::string& message) const;
  [[noreturn]] void unknown_key(const Entry&, const std::vector<std::string>& known, const std::string& where) const;
  void allow_keys(const toml::table&, const std::vector<std::string>& known, const std::string& where) const;

  std::string text_at(const char* key, const std::string& otherwise) const;
  double number(const toml::node&, const std::string& what, bool finite = true) const;
  std::vector<double> numbers(const toml::array&, const std::string& what) const;

 private:
  SourceText text_;
  toml::table root_;
};
}  // namespace mckean
