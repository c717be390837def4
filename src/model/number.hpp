// Numbers as a data file spells them.
#pragma once

#include <string>
#include <string_view>

namespace mckean {

struct Number {
  double value = 0;
  std::string problem;  // empty if the text is a finite number, else what it is: "'abc' is not a number"
};

// The whole text must be a decimal number; a leading '+' is allowed, the locale plays no part.
Number parse_number(std::string_view text);

// Empty, NA or nan, in any case.
bool is_missing(std::string_view text);
}  // namespace mckean
