#include "paper/rule.hpp"

#include <fmt/format.h>

#include <cmath>

#include "expr/parse.hpp"

namespace mckean {

Formula::Formula(std::string text, std::string name, const std::vector<std::string>& names)
    : text_(std::move(text)), name_(std::move(name)), graph_(std::make_shared<Graph>()) {
  Scope scope;
  for (const std::string& n : names) {
    symbols_.push_back(graph_->parameter(n));
    scope.names[n] = {symbols_.back(), {}};
  }
  scope.no_primes = "it is a number";
  try {
    value_ = parse_expression(text_, *graph_, scope);
  } catch (const ParseError& e) {
    throw SettingError(
        fmt::format("{} {}: {}; give a number or a formula of {}", name_, text_, e.what(), fmt::join(names, ", ")));
  }
  graph_->freeze();
}

double Formula::at(const std::vector<double>& values) const {
  std::unordered_map<std::uint32_t, double> known;
  for (std::size_t i = 0; i < symbols_.size(); ++i) known[symbols_[i].id()] = values[i];
  return evaluate(value_, known);
}

std::size_t Rule::at(int l, int L, std::size_t T, std::size_t least) const {
  const double v = std::round(formula_.at({static_cast<double>(l), static_cast<double>(L), static_cast<double>(T)}));
  if (!(v >= static_cast<double>(least) && v < 1e9))
    throw SettingError(fmt::format("{} {}: gives {} at level {}; it must be between {} and 1e9", formula_.name(),
                                   formula_.text(), v, l, least));
  return static_cast<std::size_t>(v);
}
}  // namespace mckean
