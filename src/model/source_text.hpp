// The text of a file, and complaints that show the place.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mckean {

class SourceText {
 public:
  SourceText(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  std::string_view text() const { return text_; }
  std::string stem() const { return std::filesystem::path(source_).stem().string(); }

  // All throw InputError: `source:line:column: message`, then the line and a caret. Lines and columns from 1.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(std::size_t line, std::size_t column, const std::string& message) const;
  // At byte `offset` of a quoted text that starts at the given place.
  [[noreturn]] void fail_inside(std::size_t line, std::size_t column, std::string_view quoted, std::size_t offset,
                                const std::string& message) const;

 private:
  std::string_view line_text(std::size_t line) const;

  std::string_view text_;
  std::string source_;
};

// The whole file, or InputError with the system's reason.
std::string read_text(const std::filesystem::path& file);
}  // namespace mckean
