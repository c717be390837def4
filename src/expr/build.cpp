// Operators and functions that build nodes.
#include "mckean/expr.hpp"

namespace mckean {

Expr operator+(Expr a, Expr b) { return a.graph().make(Op::add, a, b); }
Expr operator-(Expr a, Expr b) { return a.graph().make(Op::sub, a, b); }
Expr operator*(Expr a, Expr b) { return a.graph().make(Op::mul, a, b); }
Expr operator/(Expr a, Expr b) { return a.graph().make(Op::div, a, b); }
Expr operator-(Expr a) { return a.graph().make(Op::neg, a); }
Expr operator+(Expr a, double b) { return a + a.graph().number(b); }
Expr operator-(Expr a, double b) { return a - a.graph().number(b); }
Expr operator*(Expr a, double b) { return a * a.graph().number(b); }
Expr operator/(Expr a, double b) { return a / a.graph().number(b); }
Expr operator+(double a, Expr b) { return b.graph().number(a) + b; }
Expr operator-(double a, Expr b) { return b.graph().number(a) - b; }
Expr operator*(double a, Expr b) { return b.graph().number(a) * b; }
Expr operator/(double a, Expr b) { return b.graph().number(a) / b; }
Expr pow(Expr a, Expr b) { return a.graph().make(Op::pow, a, b); }
Expr pow(Expr a, double b) { return pow(a, a.graph().number(b)); }
Expr min(Expr a, Expr b) { return a.graph().make(Op::min, a, b); }
Expr max(Expr a, Expr b) { return a.graph().make(Op::max, a, b); }
Expr less(Expr a, Expr b) { return a.graph().make(Op::less, a, b); }
Expr less_equal(Expr a, Expr b) { return a.graph().make(Op::less_equal, a, b); }
Expr select(Expr c, Expr a, Expr b) { return a.graph().make(Op::select, c, a, b); }
Expr sin(Expr a) { return a.graph().make(Op::sin, a); }
Expr cos(Expr a) { return a.graph().make(Op::cos, a); }
Expr tan(Expr a) { return a.graph().make(Op::tan, a); }
Expr asin(Expr a) { return a.graph().make(Op::asin, a); }
Expr acos(Expr a) { return a.graph().make(Op::acos, a); }
Expr atan(Expr a) { return a.graph().make(Op::atan, a); }
Expr sinh(Expr a) { return a.graph().make(Op::sinh, a); }
Expr cosh(Expr a) { return a.graph().make(Op::cosh, a); }
Expr tanh(Expr a) { return a.graph().make(Op::tanh, a); }
Expr exp(Expr a) { return a.graph().make(Op::exp, a); }
Expr expm1(Expr a) { return a.graph().make(Op::expm1, a); }
Expr log(Expr a) { return a.graph().make(Op::log, a); }
Expr log1p(Expr a) { return a.graph().make(Op::log1p, a); }
Expr sqrt(Expr a) { return a.graph().make(Op::sqrt, a); }
Expr abs(Expr a) { return a.graph().make(Op::abs, a); }
Expr sign(Expr a) { return a.graph().make(Op::sign, a); }
Expr sigmoid(Expr a) { return a.graph().make(Op::sigmoid, a); }
Expr softplus(Expr a) { return a.graph().make(Op::softplus, a); }
Expr relu(Expr a) { return a.graph().make(Op::relu, a); }
Expr erf(Expr a) { return a.graph().make(Op::erf, a); }
Expr lgamma(Expr a) { return a.graph().make(Op::lgamma, a); }
Expr mean(Expr a) { return a.graph().make(Op::mean, a); }
Expr sum(Expr a) { return a.graph().make(Op::sum, a); }

Expr other(Expr e) {
  Substitution primes;
  for (const Expr n : reachable(std::span(&e, 1)))
    if (n.op() == Op::symbol && n.symbol().kind == Kind::state)
      primes.emplace(n.id(), e.graph().symbol({Kind::other_state, n.symbol().name, n.symbol().index}));
  return substitute(e, primes);
}

Expr sum_of(Graph& g, std::span<const Expr> terms) {
  if (terms.empty()) return g.number(0);
  if (terms.size() == 1) return terms[0];
  const std::size_t half = terms.size() / 2;
  return sum_of(g, terms.first(half)) + sum_of(g, terms.subspan(half));
}
}  // namespace mckean
