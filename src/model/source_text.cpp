#include "model/source_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "mckean/error.hpp"

namespace mckean {
namespace {

// Room for the caret; control characters and tabs become spaces so that it stands where it should.
std::string pointed(std::string_view line, std::size_t column) {
  constexpr std::size_t kWidth = 160;
  const std::size_t from = column > kWidth ? column - kWidth / 2 : 0;
  std::string shown(line.substr(std::min(from, line.size()), kWidth));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  std::size_t before = 0;  // characters, not bytes
  for (std::size_t i = from; i < std::min(column, line.size()); ++i)
    before += (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
  return fmt::format("\n    {}\n    {}^", shown, std::string(before, ' '));
}

// The byte at which character `column` (from 1) of a line stands.
std::size_t byte_of(std::string_view line, std::size_t column) {
  std::size_t byte = 0;
  for (std::size_t seen = 1; byte < line.size() && seen < column; ++seen) do
      ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0) == 0x80);
  return byte;
}
}  // namespace

std::string_view SourceText::line_text(std::size_t line) const {
  std::size_t begin = 0;
  for (std::size_t l = 1; l < line; ++l) {
    const std::size_t end = text_.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  return text_.substr(begin, text_.find('\n', begin) - begin);
}

void SourceText::fail(const std::string& message) const { throw InputError(fmt::format("{}: {}", source_, message)); }

void SourceText::fail(std::size_t line, std::size_t column, const std::string& message) const {
  if (line == 0) fail(message);
  const std::string_view text = line_text(line);
  throw InputError(fmt::format("{}:{}:{}: {}{}", source_, line, column, message, pointed(text, byte_of(text, column))));
}

void SourceText::fail_inside(std::size_t line, std::size_t column, std::string_view quoted, std::size_t offset,
                             const std::string& message) const {
  const std::string_view text = line_text(line);
  const std::size_t begin = byte_of(text, column) + 1;  // behind the quote
  if (begin <= text.size() && text.substr(begin).starts_with(quoted)) fail(line, column + 1 + offset, message);
  // A text over several lines, or with escapes: show it by itself.
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
