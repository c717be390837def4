// UTF-8 as far as messages and checks need it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mckean {

// The code point at `pos`, which then moves behind it; nothing, and `pos` stays, where the bytes are not
// UTF-8.
std::optional<char32_t> decode_utf8(std::string_view text, std::size_t& pos);

// User's text for a message: in single quotes, control characters escaped, shortened when long.
std::string shown(std::string_view text);
}  // namespace mckean
