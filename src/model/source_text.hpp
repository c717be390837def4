// The text of a file, and complaints that show the place.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mckean {

class SourceText {
 public:
  // Without a byte-order mark, and with LF at the ends of lines.
  SourceText(std::string_view text, std::string source);

  std::string_view text() const { return text_; }
  std::string stem() const { return std::filesystem::path(source_).stem().string(); }

  void require_utf8() const;  // throws InputError

  // All throw InputError: `source:line:column: message`, then the line and a caret. Lines and columns from 1.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(std::size_t line, std::size_t column, const std::string& message) const;
  // At byte `offset` of a quoted text that starts at the given place.
  [[noreturn]] void fail_inside(std::size_t line, std::size_t column, std::string_view quoted, std::size_t offset,
                                const std::string& message) const;

 private:
  [[noreturn]] void fail_at_byte(std::size_t byte, const std::string& message) const;
  std::size_t byte_at(std::size_t line, std::size_t column) const;

  std::string text_;
  std::string source_;
};

// The whole file, or InputError with the system's reason.
std::string read_text(const std::filesystem::path& file);
}  // namespace mckean
