// One table of the functions of the language: name, number of arguments, value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mckean/expr.hpp"

namespace mckean {

// The value of one operation on numbers, by libm. Operands that the operation does not have are ignored.
double apply(Op, double a, double b = 0, double c = 0);

struct FunctionInfo {
  std::string_view name;
  Op op;
  std::size_t arguments;
};

// What text such as sin(x) or if(c, a, b) may call.
const FunctionInfo* find_function(std::string_view name);
std::vector<std::string> function_names();
std::string_view function_name(Op);  // empty for operators
}  // namespace mckean
