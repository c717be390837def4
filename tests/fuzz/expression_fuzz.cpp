// Any bytes are either an expression, whose text is read back as the same node, or a ParseError inside the text.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "expr/parse.hpp"
#include "expr/separate.hpp"

namespace {

using namespace mckean;

void require(bool condition) {
  if (!condition) std::abort();
}

// A scalar state x, a vector v of two components, a parameter, a constant, time and an observed value.
struct Language {
  Language() {
    scope.names["x"] = {graph.state("x"), {}};
    scope.primed["x"] = {graph.symbol({Kind::other_state, "x"}), {}};
    scope.names["v"] = vector(Kind::state);
    scope.primed["v"] = vector(Kind::other_state);
    scope.names["theta"] = {graph.parameter("theta"), {}};
    scope.names["K"] = {graph.symbol({Kind::constant, "K"}), {}};
    scope.names["t"] = {graph.symbol({Kind::time, "t"}), {}};
    scope.names["y"] = {graph.symbol({Kind::observed, "y"}), {}};
    scope.barred["pull"] = "it is barred";
  }

  Scope::Entry vector(Kind::Bits kind) {
    return {graph.symbol({kind, "v"}), {graph.symbol({kind, "v", 0}), graph.symbol({kind, "v", 1})}};
  }

  Graph graph;
  Scope scope;
};

void check(Language& language, Expr e) {
  require(parse_expression(to_text(e), language.graph, language.scope) == e);
  std::unordered_map<std::uint32_t, double> point;
  const std::vector<Expr> nodes = reachable(std::span(&e, 1));
  for (const Expr n : nodes)
    if (n.op() == Op::symbol) point[n.id()] = 0.75;
  if (nodes.size() > 200) return;  // what follows may grow with the square
  bool reduces = false;
  for (const Expr n : nodes) reduces = reduces || n.op() == Op::mean || n.op() == Op::sum;
  if (!reduces) evaluate(e, point);
  differentiate(e, language.graph.state("x"));
  if (!reduces && e.has(Kind::state) && e.has(Kind::other_state)) separate(e, 32);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  Language language;
  try {
    check(language, parse_expression(text, language.graph, language.scope));
  } catch (const ParseError& error) {
    require(error.position <= size && error.what()[0] != '\0');
  }
  return 0;
}
