#include "model/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "expr/utf8.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

// The part of a line around a byte of it, and a caret below that byte; what would not show becomes a space or '?'.
std::string pointed(std::string_view line, std::size_t byte) {
  constexpr std::size_t kWidth = 160;
  std::size_t from = byte > kWidth ? byte - kWidth / 2 : 0, to = std::min(from + kWidth, line.size());
  while (from > 0 && continues_character(line[from])) --from;
  while (to < line.size() && continues_character(line[to])) ++to;
  std::string shown;
  for (std::size_t i = from; i < to;) {
    const std::size_t begin = i;
    const auto point = decode_utf8(line, i);
    if (!point) ++i;
    shown += !point ? "?" : *point < 0x20 || *point == 0x7F ? " " : line.substr(begin, i - begin);
  }
  return fmt::format("\n    {}\n    {}^", shown, std::string(characters(line.substr(from, byte - from)), ' '));
}
}  // namespace

SourceText::SourceText(std::string_view text, std::string source) : source_(std::move(source)) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || !text.substr(i + 1).starts_with('\n')) text_ += text[i];
}

void SourceText::require_utf8() const {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    fail("the file is UTF-16, not UTF-8; save it as UTF-8, or convert it with iconv -f UTF-16 -t UTF-8");
  for (std::size_t i = 0; i < text_.size();)
    if (!decode_utf8(text_, i))
      fail_at_byte(i, fmt::format("the byte 0x{:02X} is not UTF-8; save the file as UTF-8, or convert it, for example "
                                  "with iconv -f WINDOWS-1252 -t UTF-8",
                                  static_cast<unsigned char>(text_[i])));
}

std::size_t SourceText::byte_at(std::size_t line, std::size_t column) const {
  std::size_t byte = 0;
  for (std::size_t l = 1; l < line; ++l) byte = std::min(text_.find('\n', byte), text_.size() - 1) + 1;
  for (std::size_t c = 1; c < column && byte < text_.size() && text_[byte] != '\n'; ++c) do
      ++byte;
    while (byte < text_.size() && continues_character(text_[byte]));
  return byte;
}

void SourceText::fail(const std::string& message) const { throw InputError(fmt::format("{}: {}", source_, message)); }

void SourceText::fail(std::size_t line, std::size_t column, const std::string& message) const {
  if (line == 0 || text_.empty()) fail(message);
  fail_at_byte(byte_at(line, column), message);
}

void SourceText::fail_at_byte(std::size_t byte, const std::string& message) const {
  const std::string_view before = std::string_view(text_).substr(0, byte);
  const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
  const std::string_view line = std::string_view(text_).substr(begin, text_.find('\n', begin) - begin);
  throw InputError(fmt::format("{}:{}:{}: {}{}", source_, std::ranges::count(before, '\n') + 1,
                               characters(before.substr(begin)) + 1, message, pointed(line, byte - begin)));
}

void SourceText::fail_inside(std::size_t line, std::size_t column, std::string_view quoted, std::size_t offset,
                             const std::string& message) const {
  const std::string_view rest = std::string_view(text_).substr(byte_at(line, column));
  const bool triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
  const std::size_t skip = !triple ? 1 : rest.substr(3).starts_with('\n') ? 4 : 3;
  if (rest.size() >= skip && rest.substr(skip).starts_with(quoted))
    fail_at_byte(text_.size() - rest.size() + skip + offset, message);
  // A text with escapes: show it by itself.
  const std::size_t row = quoted.substr(0, offset).rfind('\n') + 1;
  const std::string_view shown = quoted.substr(row, quoted.find('\n', offset) - row);
  throw InputError(fmt::format("{}:{}:{}: {}{}", source_, line, column, message, pointed(shown, offset - row)));
}

std::string read_text(const std::filesystem::path& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::fopen(file.c_str(), "rb"), std::fclose);
  const auto refuse = [&] {
    throw InputError(fmt::format("{}: cannot be read ({}); check its name and permissions", file.string(),
                                 std::generic_category().message(errno)));
  };
  if (!input) refuse();
  std::string text;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof block, input.get())) text.append(block, count);
  if (std::ferror(input.get())) refuse();
  return text;
}
}  // namespace mckean
