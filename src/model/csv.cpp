#include "model/csv.hpp"

#include <fmt/format.h>

#include <utility>

#include "expr/utf8.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}
}  // namespace

void fail_at(const std::string& source, int line, std::string_view message) {
  throw InputError(fmt::format("{}:{}: {}", source, line, message));
}

CsvReader::CsvReader(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    fail_at(source_, 1,
            "the file is UTF-16, not UTF-8; save it as UTF-8 (in a spreadsheet: 'CSV UTF-8'), or convert it "
            "with iconv -f UTF-16 -t UTF-8");
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

bool CsvReader::next(CsvRow& row) {
  while (pos_ < text_.size()) {
    const std::size_t begin = pos_;
    row.line = line_;
    row.fields.clear();
    row.fields.push_back(read_field());
    while (at(',')) {
      ++pos_;
      row.fields.push_back(read_field());
    }
    const bool blank = trimmed(text_.substr(begin, pos_ - begin)).empty();
    end_line();
    if (blank) continue;
    if (first_ && row.fields.size() == 1) refuse_separator(row.fields[0], row.line);
    first_ = false;
    return true;
  }
  return false;
}

std::string CsvReader::read_field() {
  while (at(' ') || at('\t')) ++pos_;
  if (at('"')) return read_quoted();
  const std::size_t begin = pos_;
  while (!at_field_end()) {
    if (at('"'))
      fail_at(source_, line_,
              "a double quote in the middle of a field; put the whole field in double quotes and write \"\" "
              "for a quote inside it");
    step();
  }
  return std::string(trimmed(text_.substr(begin, pos_ - begin)));
}

std::string CsvReader::read_quoted() {
  const int start = line_;
  std::string field;
  for (++pos_;; ++pos_) {
    const std::size_t begin = pos_;
    while (pos_ < text_.size() && !at('"')) step();
    field += text_.substr(begin, pos_ - begin);
    if (pos_ == text_.size())
      fail_at(source_, start, "the double quote that opens here is never closed; close it or remove it");
    ++pos_;
    if (!at('"')) break;
    field += '"';
  }
  const std::size_t begin = pos_;
  while (!at_field_end()) step();
  const std::string_view rest = text_.substr(begin, pos_ - begin);
  if (!trimmed(rest).empty()) {
    refuse_separator(rest, line_);
    fail_at(source_, line_,
            fmt::format("{} follows a closing double quote; put a comma after the quote, or write \"\" for a "
                        "quote inside a field",
                        shown(trimmed(rest))));
  }
  return std::string(trimmed(field));
}

// Over one character, which must be text.
void CsvReader::step() {
  const char c = text_[pos_];
  if (c == '\0') fail_at(source_, line_, "a NUL byte, so this is not a text file in UTF-8; save it as CSV in UTF-8");
  if (!decode_utf8(text_, pos_))
    fail_at(source_, line_,
            fmt::format("the byte 0x{:02X} is not UTF-8; save the file as UTF-8, or convert it, for example "
                        "with iconv -f WINDOWS-1252 -t UTF-8",
                        static_cast<unsigned char>(c)));
  if (c == '\n') ++line_;
}

bool CsvReader::at_field_end() const {
  if (pos_ == text_.size() || at(',') || at('\n')) return true;
  if (!at('\r')) return false;
  if (text_.substr(pos_).starts_with("\r\n")) return true;
  fail_at(source_, line_, "a carriage return without a line feed; save the file with LF or CRLF at the ends of lines");
}

void CsvReader::end_line() {
  if (at('\r')) ++pos_;
  if (pos_ < text_.size()) step();
}

void CsvReader::refuse_separator(std::string_view field, int line) const {
  const std::size_t found = field.find_first_of(";\t");
  if (found == std::string_view::npos) return;
  fail_at(source_, line,
          fmt::format("fields seem to be separated by {}; save the file with commas between fields and points "
                      "in decimal numbers",
                      field[found] == ';' ? "semicolons" : "tabs"));
}
}  // namespace mckean
