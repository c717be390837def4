#include "problem/block_products.hpp"

#include <cmath>

namespace mckean {
namespace {

constexpr std::size_t kMost = 20000;
constexpr double kHighestPower = 8;

using Key = std::vector<std::pair<std::size_t, std::uint32_t>>;  // blocks and their factors
using Products = std::map<Key, BlockProduct>;
using Maybe = std::optional<Products>;

void add_to(Products& sum, BlockProduct term) {
  Key key;
  for (const auto& [block, factor] : term.factors) key.emplace_back(block, factor.id());
  const auto [at, fresh] = sum.try_emplace(std::move(key), term);
  if (!fresh) at->second.coefficient = at->second.coefficient + term.coefficient;
}

Maybe added(Maybe a, const Maybe& b, double sign) {
  if (!a || !b) return {};
  for (const auto& [key, term] : *b) add_to(*a, {sign * term.coefficient, term.factors});
  return a;
}

Maybe multiplied(const Maybe& a, const Maybe& b) {
  if (!a || !b || a->size() * b->size() > kMost) return {};
  Products out;
  for (const auto& [left_key, left] : *a)
    for (const auto& [right_key, right] : *b) {
      BlockProduct term{left.coefficient * right.coefficient, left.factors};
      for (const auto& [block, factor] : right.factors) {
        const auto [at, fresh] = term.factors.try_emplace(block, factor);
        if (!fresh) at->second = at->second * factor;
      }
      add_to(out, std::move(term));
    }
  return out;
}

class Expansion {
 public:
  Expansion(Expr root, const std::function<std::size_t(Expr)>& block_of) : graph_(root.graph()) {
    for (const Expr e : reachable(std::span(&root, 1))) {
      Extent extent;
      if (e.op() == Op::symbol && e.has(Kind::state | Kind::other_state)) extent = {1, block_of(e)};
      for (std::size_t i = 0; i < e.arity(); ++i) extent = joined(extent, extents_.at(e.operand(i).id()));
      extents_.emplace(e.id(), extent);
    }
  }

  Maybe operator()(Expr e) {
    const Extent extent = extent_of(e);
    if (extent.blocks == 0) return Products{{{}, {e, {}}}};
    if (extent.blocks == 1) return Products{{{{extent.block, e.id()}}, {graph_.number(1), {{extent.block, e}}}}};
    switch (e.op()) {
      case Op::neg:
        return added(Products{}, (*this)(e.operand(0)), -1);
      case Op::add:
        return added((*this)(e.operand(0)), (*this)(e.operand(1)), 1);
      case Op::sub:
        return added((*this)(e.operand(0)), (*this)(e.operand(1)), -1);
      case Op::mul:
        return multiplied((*this)(e.operand(0)), (*this)(e.operand(1)));
      case Op::div:
        return multiplied((*this)(e.operand(0)), inverse(e.operand(1)));
      case Op::pow:
        return power(e.operand(0), e.operand(1));
      case Op::exp:
      case Op::sin:
      case Op::cos:
        return of_sum(e.op(), e.operand(0));
      default:
        return {};
    }
  }

 private:
  struct Extent {
    int blocks = 0;  // none, one or several
    std::size_t block = 0;
  };
  static Extent joined(Extent a, Extent b) {
    if (a.blocks == 0) return b;
    return b.blocks == 0 || (a.blocks == 1 && b.blocks == 1 && a.block == b.block) ? a : Extent{2, 0};
  }
  // Of a node that was made here as well.
  Extent extent_of(Expr e) {
    if (const auto at = extents_.find(e.id()); at != extents_.end()) return at->second;
    Extent extent;
    for (std::size_t i = 0; i < e.arity(); ++i) extent = joined(extent, extent_of(e.operand(i)));
    return extents_.emplace(e.id(), extent).first->second;
  }

  Maybe inverse(Expr e) {
    if (extent_of(e).blocks < 2) return (*this)(1.0 / e);
    if (e.op() == Op::mul) return multiplied(inverse(e.operand(0)), inverse(e.operand(1)));
    return {};
  }

  Maybe power(Expr base, Expr exponent) {
    const double n = exponent.is_number() ? exponent.value() : 0.5;
    if (n != std::trunc(n) || std::abs(n) > kHighestPower) return {};
    const Maybe once = n < 0 ? inverse(base) : (*this)(base);
    Maybe out = Products{{{}, {graph_.number(1), {}}}};
    for (int i = 0; i < std::abs(n); ++i) out = multiplied(out, once);
    return out;
  }

  // f(Σ_b g_b(x_b)) by the addition theorem of f.
  Maybe of_sum(Op f, Expr argument) {
    const Maybe terms = (*this)(argument);
    if (!terms) return {};
    std::map<std::size_t, Expr> parts;  // g_b; what reads no state belongs to any
    Expr rest = graph_.number(0);
    for (const auto& [key, term] : *terms) {
      if (term.factors.size() > 1) return {};
      if (term.factors.empty()) {
        rest = rest + term.coefficient;
        continue;
      }
      const auto& [block, factor] = *term.factors.begin();
      const auto [at, fresh] = parts.try_emplace(block, term.coefficient * factor);
      if (!fresh) at->second = at->second + term.coefficient * factor;
    }
    Maybe cosine = (*this)(f == Op::exp ? exp(rest) : cos(rest)), sine = (*this)(sin(rest));
    for (const auto& [block, g] : parts) {
      if (f == Op::exp) {
        cosine = multiplied(cosine, (*this)(exp(g)));
        continue;
      }
      const Maybe c = (*this)(cos(g)), s = (*this)(sin(g)), before = cosine;
      cosine = added(multiplied(before, c), multiplied(sine, s), -1);
      sine = added(multiplied(sine, c), multiplied(before, s), 1);
    }
    return f == Op::sin ? sine : cosine;
  }

  Graph& graph_;
  std::unordered_map<std::uint32_t, Extent> extents_;
};
}  // namespace

std::optional<std::vector<BlockProduct>> block_products(Expr e,
                                                        const std::function<std::size_t(Expr state)>& block_of) {
  const Maybe products = Expansion(e, block_of)(e);
  if (!products) return {};
  std::vector<BlockProduct> out;
  for (const auto& [key, product] : *products) out.push_back(product);
  return out;
}
}  // namespace mckean
