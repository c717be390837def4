// Comma-separated text, record by record (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mckean {

// Throws InputError "SOURCE:LINE: message".
[[noreturn]] void fail_at(const std::string& source, int line, std::string_view message);

struct CsvRow {
  int line = 0;  // where it begins; a quoted field may span several lines
  std::vector<std::string> fields;
};

// Lines end with LF or CRLF, blank ones are skipped, as is a UTF-8 byte-order mark; spaces and tabs around a
// field are trimmed, also inside its quotes. Throws InputError on text that is not CSV in UTF-8.
class CsvReader {
 public:
  // The text must outlive the reader.
  CsvReader(std::string_view text, std::string source);

  // False at the end.
  bool next(CsvRow& row);

 private:
  std::string read_field();
  std::string read_quoted();
  void step();
  bool at(char c) const { return pos_ < text_.size() && text_[pos_] == c; }
  bool at_field_end() const;
  void end_line();
  void refuse_separator(std::string_view field, int line) const;

  std::string_view text_;
  std::string source_;
  std::size_t pos_ = 0;
  int line_ = 1;
  bool first_ = true;
};
}  // namespace mckean
