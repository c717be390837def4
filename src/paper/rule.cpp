#include "paper/rule.hpp"

#include <fmt/format.h>

#include <cmath>

#include "expr/parse.hpp"

namespace mckean {

Formula::Formula(std::string text, std::string name, std::vector<std::string> names)
    : text_(std::move(text)), name_(std::move(name)), names_(std::move(names)) {
  at(std::vector<double>(names_.size(), 1.0));
}

double Formula::at(const std::vector<double>& values) const {
  Graph graph;
  Scope scope;
  for (std::size_t i = 0; i < names_.size(); ++i) scope.names[names_[i]] = {graph.number(values[i]), {}};
  scope.no_primes = "it is a number";
  try {
    return evaluate(parse_expression(text_, graph, scope), {});
  } catch (const ParseError& e) {
    throw SettingError(
        fmt::format("{} {}: {}; give a number or a formula of {}", name_, text_, e.what(), fmt::join(names_, ", ")));
  }
}

std::size_t Rule::at(int l, int L, std::size_t T, std::size_t least) const {
  const double v = std::round(formula_.at({static_cast<double>(l), static_cast<double>(L), static_cast<double>(T)}));
  if (!(v >= static_cast<double>(least) && v < 1e9))
    throw SettingError(fmt::format("{} {}: gives {} at level {}; it must be between {} and 1e9", formula_.name(),
                                   formula_.text(), v, l, least));
  return static_cast<std::size_t>(v);
}
}  // namespace mckean
