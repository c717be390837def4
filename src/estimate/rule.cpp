#include "estimate/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expr/parse.hpp"

namespace mckean {

Rule::Rule(const std::string& text, const std::string& option) : text_(text), option_(option) { value(1, 1, 1); }

double Rule::value(double l, double L, double T) const {
  Graph graph;
  Scope scope;
  for (const auto& [name, v] : {std::pair{"l", l}, std::pair{"L", L}, std::pair{"T", T}})
    scope.names[name] = {graph.number(v), {}};
  scope.no_primes = "it is a number";
  try {
    return evaluate(parse_expression(text_, graph, scope), {});
  } catch (const ParseError& e) {
    throw InputError(
        fmt::format("{} {}: {}; give a number, or a rule of l, L and T such as l*L", option_, text_, e.what()));
  }
}

std::size_t Rule::at(int l, int L, std::size_t T, std::size_t least) const {
  const double v = std::round(value(l, L, static_cast<double>(T)));
  if (!(v >= static_cast<double>(least) && v < 1e9))
    throw InputError(
        fmt::format("{} {}: gives {} at level {}; it must be between {} and 1e9", option_, text_, v, l, least));
  return static_cast<std::size_t>(v);
}
}  // namespace mckean
