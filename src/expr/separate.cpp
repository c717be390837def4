#include "expr/separate.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {
namespace {

using Monomial = std::map<std::uint32_t, int>;  // factor → power

constexpr std::uint32_t kNoAtom = ~0u;

struct Factors {
  Monomial own, other;
  std::uint32_t atom = kNoAtom;
  auto operator<=>(const Factors&) const = default;
};
using Terms = std::map<Factors, double>;  // Σ coefficient · own · other · atom
using MaybeTerms = std::optional<Terms>;

bool mixed(Expr e) { return e.has(Kind::state) && e.has(Kind::other_state); }

// A function of at most `width` unprimed and as many primed components, of either at least one, and of nothing that
// changes with time.
bool is_atom(Expr e, int width) {
  if (!mixed(e) || e.has(Kind::time)) return false;
  int own = 0, other = 0;
  for (const Expr n : reachable(std::span(&e, 1))) {
    if (n.op() != Op::symbol) continue;
    own += n.symbol().kind == Kind::state;
    other += n.symbol().kind == Kind::other_state;
  }
  return own <= width && other <= width;
}

bool has_atom(const Terms& t) {
  return std::ranges::any_of(t, [](const auto& term) { return term.first.atom != kNoAtom; });
}

void multiply(Monomial& into, const Monomial& by) {
  for (const auto& [factor, power] : by)
    if ((into[factor] += power) == 0) into.erase(factor);
}

Terms single(Expr factor, int power) {
  Factors f;
  (factor.has(Kind::other_state) ? f.other : f.own)[factor.id()] = power;
  return {{f, 1.0}};
}

class Separation {
 public:
  Separation(Graph& graph, std::size_t most, int width) : graph_(graph), most_(most), width_(width) {}

  MaybeTerms operator()(Expr e) {
    if (const auto at = memo_.find(e.id()); at != memo_.end()) return at->second;
    MaybeTerms t = expand(e);
    if (t && t->size() > 8 * most_) t.reset();
    if ((!t || has_atom(*t)) && is_atom(e, width_)) t = Terms{{{{}, {}, e.id()}, 1.0}};
    memo_.emplace(e.id(), t);
    return t;
  }

  Expr build(const Monomial& m) const {
    Expr e = graph_.number(1);
    for (const auto& [factor, power] : m) e = e * pow(graph_.node(factor), power);
    return e;
  }

 private:
  MaybeTerms expand(Expr e) {
    switch (e.op()) {
      case Op::number:
        return Terms{{{}, e.value()}};
      case Op::neg:
        return scale((*this)(e.operand(0)), -1);
      case Op::add:
        return mixed(e) ? add((*this)(e.operand(0)), (*this)(e.operand(1)), 1) : single(e, 1);
      case Op::sub:
        return mixed(e) ? add((*this)(e.operand(0)), (*this)(e.operand(1)), -1) : single(e, 1);
      case Op::mul:
        return product((*this)(e.operand(0)), (*this)(e.operand(1)));
      case Op::div:
        return product((*this)(e.operand(0)), reciprocal(e.operand(1)));
      case Op::pow:
        return power(e);
      case Op::exp:
      case Op::sin:
      case Op::cos:
      case Op::sinh:
      case Op::cosh:
        return mixed(e) ? addition_theorem(e) : single(e, 1);
      default:
        return mixed(e) ? MaybeTerms{} : single(e, 1);
    }
  }

  static MaybeTerms scale(MaybeTerms t, double by) {
    if (t)
      for (auto& [factors, coefficient] : *t) coefficient *= by;
    return t;
  }

  static MaybeTerms add(MaybeTerms a, const MaybeTerms& b, double sign) {
    if (!a || !b) return {};
    for (const auto& [factors, coefficient] : *b)
      if (((*a)[factors] += sign * coefficient) == 0) a->erase(factors);
    return a;
  }

  MaybeTerms product(const MaybeTerms& a, const MaybeTerms& b) const {
    if (!a || !b || a->size() * b->size() > 64 * most_) return {};
    Terms out;
    for (const auto& [fa, ca] : *a)
      for (const auto& [fb, cb] : *b) {
        if (fa.atom != kNoAtom && fb.atom != kNoAtom) return {};
        Factors f = fa;
        f.atom = std::min(fa.atom, fb.atom);
        multiply(f.own, fb.own);
        multiply(f.other, fb.other);
        if ((out[f] += ca * cb) == 0) out.erase(f);
      }
    return out;
  }

  // Where the denominator is an atom or has one, its reciprocal is an atom; not so in one dimension.
  MaybeTerms reciprocal(Expr e) {
    MaybeTerms t = inverse((*this)(e));
    if (!t && width_ > 1 && is_atom(e, width_)) t = Terms{{{{}, {}, (1.0 / e).id()}, 1.0}};
    return t;
  }

  static MaybeTerms inverse(const MaybeTerms& t) {
    if (!t || t->size() != 1 || t->begin()->second == 0 || has_atom(*t)) return {};
    Factors f = t->begin()->first;
    for (auto* side : {&f.own, &f.other})
      for (auto& [factor, power] : *side) power = -power;
    return Terms{{f, 1 / t->begin()->second}};
  }

  MaybeTerms power(Expr e) {
    const Expr base = e.operand(0), exponent = e.operand(1);
    const double n = exponent.is_number() ? exponent.value() : 0.5;
    if (n != std::trunc(n) || std::abs(n) > 64) return mixed(e) ? MaybeTerms{} : single(e, 1);
    MaybeTerms b = (*this)(base);
    if (n < 0) b = inverse(b);
    MaybeTerms out = Terms{{{}, 1.0}};
    for (int i = 0; i < std::abs(static_cast<int>(n)); ++i) out = product(out, b);
    return out;
  }

  // f(A(x) + B(x')) by the addition theorem of f.
  MaybeTerms addition_theorem(Expr e) {
    const MaybeTerms argument = (*this)(e.operand(0));
    if (!argument || has_atom(*argument)) return {};
    Expr a = graph_.number(0), b = a;
    for (const auto& [factors, coefficient] : *argument) {
      const Expr own = coefficient * build(factors.own);
      if (factors.other.empty())
        a = a + own;
      else if (!own.has(Kind::state))
        b = b + own * build(factors.other);
      else
        return {};
    }
    switch (e.op()) {
      case Op::exp:
        return pair(exp(a), exp(b));
      case Op::sin:
        return add(pair(sin(a), cos(b)), pair(cos(a), sin(b)), 1);
      case Op::cos:
        return add(pair(cos(a), cos(b)), pair(sin(a), sin(b)), -1);
      case Op::sinh:
        return add(pair(sinh(a), cosh(b)), pair(cosh(a), sinh(b)), 1);
      default:
        return add(pair(cosh(a), cosh(b)), pair(sinh(a), sinh(b)), 1);
    }
  }

  // f·g, each of one side; signs are taken out so that sin(-x') is a multiple of sin(x').
  MaybeTerms pair(Expr f, Expr g) { return product((*this)(f), (*this)(g)); }

  Graph& graph_;
  std::size_t most_;
  int width_;
  std::unordered_map<std::uint32_t, MaybeTerms> memo_;
};
}  // namespace

std::optional<std::vector<SeparatedTerm>> separate(Expr kernel, std::size_t most, int width) {
  Graph& g = kernel.graph();
  Separation separation(g, most, width);
  for (const Expr e : reachable(std::span(&kernel, 1))) separation(e);  // operands first: no deep recursion
  const MaybeTerms terms = separation(kernel);
  if (!terms) return std::nullopt;

  using Key = std::pair<std::uint32_t, std::uint32_t>;  // a side, and the atom
  std::map<Key, Expr> by_other;                         // ψ → Σ of its φ
  for (const auto& [factors, coefficient] : *terms) {
    const Expr other = separation.build(factors.other);
    const Expr own = coefficient * separation.build(factors.own);
    const auto [at, fresh] = by_other.try_emplace({other.id(), factors.atom}, own);
    if (!fresh) at->second = at->second + own;
  }
  std::map<Key, Expr> by_own;  // φ → Σ of its ψ
  for (const auto& [key, own] : by_other) {
    if (own.is_number(0)) continue;
    const auto [at, fresh] = by_own.try_emplace({own.id(), key.second}, g.node(key.first));
    if (!fresh) at->second = at->second + g.node(key.first);
  }
  if (by_own.size() > most) return std::nullopt;
  std::vector<SeparatedTerm> out;
  for (const auto& [key, other] : by_own)
    out.push_back({g.node(key.first), other, key.second == kNoAtom ? Expr{} : g.node(key.second)});
  return out;
}
}  // namespace mckean
