// Text that a reader must refuse, as the parameter of a test.
#pragma once

#include <ostream>
#include <string>

namespace mckean {

struct Bad {
  std::string name, text;
  std::string start;  // how the message begins: "f.csv:LINE: problem"
  std::string also;   // what else it says
};
inline void PrintTo(const Bad& c, std::ostream* out) { *out << c.name; }

inline constexpr auto case_name = [](const auto& test) { return test.param.name; };
}  // namespace mckean
