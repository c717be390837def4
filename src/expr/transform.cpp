// Walks over the graph: reachable nodes, substitution, evaluation. None recurses: operands precede users.
#include <algorithm>
#include <stdexcept>

#include "expr/functions.hpp"
#include "mckean/expr.hpp"

namespace mckean {

std::vector<Expr> reachable(std::span<const Expr> roots) {
  std::vector<Expr> found, stack(roots.begin(), roots.end());
  if (roots.empty()) return found;
  std::vector<bool> seen(roots[0].graph().size());
  while (!stack.empty()) {
    const Expr e = stack.back();
    stack.pop_back();
    if (seen[e.id()]) continue;
    seen[e.id()] = true;
    found.push_back(e);
    for (std::size_t i = 0; i < e.arity(); ++i) stack.push_back(e.operand(i));
  }
  std::ranges::sort(found, {}, &Expr::id);
  return found;
}

std::vector<Expr> substitute(std::span<const Expr> roots, const Substitution& replace) {
  Substitution done;
  for (const Expr e : reachable(roots)) {
    Expr r = e;
    if (const auto at = replace.find(e.id()); at != replace.end()) {
      r = at->second;
    } else if (e.arity() > 0) {
      Expr args[3];
      bool same = true;
      for (std::size_t i = 0; i < e.arity(); ++i) {
        args[i] = done.at(e.operand(i).id());
        same = same && args[i] == e.operand(i);
      }
      if (!same) r = e.graph().make(e.op(), args[0], args[1], args[2]);
    }
    done.emplace(e.id(), r);
  }
  std::vector<Expr> out;
  for (const Expr e : roots) out.push_back(done.at(e.id()));
  return out;
}

Expr substitute(Expr e, const Substitution& replace) { return substitute(std::span(&e, 1), replace)[0]; }

double evaluate(Expr root, const std::unordered_map<std::uint32_t, double>& values) {
  std::unordered_map<std::uint32_t, double> done;
  for (const Expr e : reachable(std::span(&root, 1))) {
    double v = 0;
    if (e.op() == Op::number) {
      v = e.value();
    } else if (e.op() == Op::symbol) {
      const auto at = values.find(e.id());
      if (at == values.end()) throw std::out_of_range("no value for " + to_text(e));
      v = at->second;
    } else {
      double args[3] = {0, 0, 0};
      for (std::size_t i = 0; i < e.arity(); ++i) args[i] = done.at(e.operand(i).id());
      v = apply(e.op(), args[0], args[1], args[2]);
    }
    done.emplace(e.id(), v);
  }
  return done.at(root.id());
}
}  // namespace mckean
