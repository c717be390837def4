// Any bytes are either data that keep the promises of data.hpp, or an InputError.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mckean/data.hpp"
#include "mckean/error.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const mckean::Data& data) {
  require(!data.series.empty());
  for (const mckean::Series& s : data.series) {
    require(!s.times.empty() && s.lines.size() == s.times.size());
    require(s.values.size() == s.times.size() * data.columns.size());
    require(s.times[0] >= 0);
    for (std::size_t i = 0; i < s.times.size(); ++i) {
      require(std::isfinite(s.times[i]));
      require(i == 0 || (s.times[i - 1] < s.times[i] && s.lines[i - 1] < s.lines[i]));
    }
    for (const double v : s.values) require(!std::isinf(v));
  }
}

// "f.csv: problem; advice" or "f.csv:LINE: problem; advice", on one line.
void check(std::string_view message) {
  require(message.starts_with("f.csv:"));
  require(message.find("; ") != message.npos && message.find_first_of("\n\r\t\x1B") == message.npos);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<std::string> columns{"y", "z[1]"};
  try {
    check(mckean::parse_data({reinterpret_cast<const char*>(bytes), size}, "f.csv", columns));
  } catch (const mckean::InputError& error) {
    check(std::string_view(error.what()));
  }
  return 0;
}
