#include "model/lower.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mckean {
namespace {
bool is_reduction(Expr e) { return e.op() == Op::mean || e.op() == Op::sum; }
}  // namespace

Lowering::Lowering(const ModelSpec& spec) : spec_(spec) {}

std::size_t Lowering::symbol_size(const Symbol& s) const {
  if (s.index >= 0) return 1;
  if (s.kind == Kind::state || s.kind == Kind::other_state)
    return std::ranges::find(spec_.states, s.name, &StateSpec::name)->start.size();
  if (s.kind == Kind::constant) return std::ranges::find(spec_.constants, s.name, &ConstantSpec::name)->values.size();
  if (s.kind == Kind::interaction) return interaction_sizes_.at(s.name);
  return 1;
}

std::size_t Lowering::size(Expr root) {
  std::unordered_map<std::uint32_t, std::size_t> sizes;
  std::unordered_map<std::uint32_t, std::string> who;  // a vector to name in a message
  for (const Expr e : reachable(std::span(&root, 1))) {
    std::size_t n = e.op() == Op::symbol ? symbol_size(e.symbol()) : 1;
    if (n > 1) who[e.id()] = to_text(e);
    for (std::size_t i = 0; i < e.arity() && !is_reduction(e); ++i) {
      const std::uint32_t operand = e.operand(i).id();
      const std::size_t m = sizes.at(operand);
      if (n > 1 && m > 1 && n != m) {
        clash_ = fmt::format("'{}' has {} components and '{}' has {}", who[e.id()], n, who[operand], m);
        return 0;
      }
      if (m > 1) n = m, who[e.id()] = who[operand];
    }
    sizes[e.id()] = n;
  }
  return sizes.at(root.id());
}

Expr Lowering::symbol(Expr e, std::size_t index) const {
  const Symbol& s = e.symbol();
  if (s.kind == Kind::constant) {
    const auto& values = std::ranges::find(spec_.constants, s.name, &ConstantSpec::name)->values;
    if (s.index >= 0) return e.graph().number(values[static_cast<std::size_t>(s.index)]);
    return e.graph().number(values.size() == 1 ? values[0] : values[index]);
  }
  if (s.index < 0 && symbol_size(s) > 1) return e.graph().symbol({s.kind, s.name, static_cast<int>(index)});
  return e;
}

// The nodes below e, not looking inside mean(…) and sum(…), operands first.
std::vector<Expr> Lowering::without_reductions(Expr root) const {
  std::vector<Expr> found, stack{root};
  std::map<std::uint32_t, bool> seen;
  while (!stack.empty()) {
    const Expr e = stack.back();
    stack.pop_back();
    if (std::exchange(seen[e.id()], true)) continue;
    found.push_back(e);
    for (std::size_t i = 0; i < e.arity() && !is_reduction(e); ++i) stack.push_back(e.operand(i));
  }
  std::ranges::sort(found, {}, &Expr::id);
  return found;
}

Expr Lowering::component(Expr root, std::size_t index) {
  Substitution done;
  for (const Expr e : without_reductions(root)) {
    Expr r = e;
    if (is_reduction(e)) {
      std::vector<Expr> terms(size(e.operand(0)));
      for (std::size_t c = 0; c < terms.size(); ++c) terms[c] = component(e.operand(0), c);
      r = sum_of(e.graph(), terms);
      if (e.op() == Op::mean && terms.size() > 1) r = r / static_cast<double>(terms.size());
    } else if (e.op() == Op::symbol) {
      r = symbol(e, index);
    } else if (e.arity() > 0) {
      Expr args[3];
      for (std::size_t i = 0; i < e.arity(); ++i) args[i] = done.at(e.operand(i).id());
      r = e.graph().make(e.op(), args[0], args[1], args[2]);
    }
    done.emplace(e.id(), r);
  }
  return done.at(root.id());
}
}  // namespace mckean
