#include "model/start.hpp"

#include "model/density.hpp"

namespace mckean {
namespace {

double value_of(Expr e, const ModelSpec& spec) {
  Substitution values;
  for (const auto& c : spec.constants) {
    Graph& graph = *spec.graph;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      const int index = c.values.size() == 1 ? -1 : static_cast<int>(i);
      values.emplace(graph.symbol({Kind::constant, c.name, index}).id(), graph.number(c.values[i]));
    }
  }
  e = substitute(e, values);
  if (e.kinds() != 0) throw ParseError(0, "a start must be one number; pick an entry of the array, as in w[1]");
  return evaluate(e, {});
}
}  // namespace

Start parse_start(const std::string& text, const ModelSpec& spec, const Scope& scope) {
  if (!is_distribution(text)) return {value_of(parse_expression(text, *spec.graph, scope), spec), 0};
  const Density d = parse_density(text, *spec.graph, scope);
  if (d.distribution != Distribution::normal)
    throw ParseError(text.find_first_not_of(" \t\r\n"), "a start is a number or normal(mean, sd)");
  return {value_of(d.arguments[0], spec), value_of(d.arguments[1], spec)};
}
}  // namespace mckean
