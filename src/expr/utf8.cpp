#include "expr/utf8.hpp"

#include <fmt/format.h>

namespace mckean {

std::optional<char32_t> decode_utf8(std::string_view text, std::size_t& pos) {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(pos);
  if (lead < 0x80) {
    ++pos;
    return lead;
  }
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() - pos < length) return std::nullopt;
  char32_t point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(pos + i) & 0xC0u) != 0x80u) return std::nullopt;
    point = point << 6 | (byte(pos + i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (overlong || surrogate || point > 0x10FFFF) return std::nullopt;
  pos += length;
  return point;
}

namespace {
// Controls, and the marks that reorder or hide what a terminal shows.
bool invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}
}  // namespace

std::string shown(std::string_view text) {
  constexpr int longest = 40;
  std::string out = "'";
  std::size_t pos = 0;
  for (int count = 0; pos < text.size(); ++count) {
    if (count == longest) return out + "...'";
    const std::size_t begin = pos;
    const auto point = decode_utf8(text, pos);
    if (!point) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[pos++]));
    } else if (*point == '\n') {
      out += "\\n";
    } else if (*point == '\t') {
      out += "\\t";
    } else if (invisible(*point)) {
      out += fmt::format("<U+{:04X}>", static_cast<unsigned>(*point));
    } else {
      out += text.substr(begin, pos - begin);
    }
  }
  return out + "'";
}
}  // namespace mckean
