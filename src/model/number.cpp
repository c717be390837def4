#include "model/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "expr/utf8.hpp"

namespace mckean {
namespace {

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// The whole of `text`, a sign '+' apart, read as a double.
std::from_chars_result read(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size()) return {result.ptr, std::errc::invalid_argument};
  return result;
}

// Why a person may have taken `text` for a number.
std::string explain(std::string_view text) {
  for (std::size_t pos = 0; pos < text.size();) {
    const auto point = decode_utf8(text, pos);
    if (!point) break;
    if (*point >= 0x80)
      return fmt::format("{} is not a number: it holds the character U+{:04X}", shown(text),
                         static_cast<unsigned>(*point));
  }
  if (std::count(text.begin(), text.end(), ',') == 1) {
    std::string pointed(text);
    std::replace(pointed.begin(), pointed.end(), ',', '.');
    double ignored = 0;
    if (read(pointed, ignored).ec == std::errc{})
      return fmt::format("{} is not a number: decimals need a point, not a comma", shown(text));
  }
  return fmt::format("{} is not a number", shown(text));
}
}  // namespace

Number parse_number(std::string_view text) {
  Number number;
  const auto [end, error] = read(text, number.value);
  if (error == std::errc::result_out_of_range) {
    number.problem = fmt::format("{} is beyond the range of double precision", shown(text));
  } else if (error != std::errc{} || std::isnan(number.value)) {
    number.problem = explain(text);
  } else if (std::isinf(number.value)) {
    number.problem = fmt::format("{} is infinite", shown(text));
  }
  return number;
}

bool is_missing(std::string_view text) {
  return text.empty() || equal_ignoring_case(text, "na") || equal_ignoring_case(text, "nan");
}
}  // namespace mckean
