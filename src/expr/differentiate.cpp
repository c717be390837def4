// Forward-mode symbolic differentiation. An absent tangent is an exact zero, so that 0 * f'(x) never appears
// and a pole of f' outside the branch taken does no harm: the slope of sqrt(max(x, 0)) is 0 for x < 0.
#include <numbers>
#include <stdexcept>

#include "mckean/expr.hpp"

namespace mckean {
namespace {

// d op(a) / da for functions of one argument; e is the node itself.
Expr slope(Expr e) {
  const Expr a = e.operand(0);
  Graph& g = e.graph();
  switch (e.op()) {
    case Op::neg:
      return g.number(-1);
    case Op::sin:
      return cos(a);
    case Op::cos:
      return -sin(a);
    case Op::tan:
      return 1.0 + pow(e, 2);
    case Op::asin:
      return 1.0 / sqrt(1.0 - pow(a, 2));
    case Op::acos:
      return -1.0 / sqrt(1.0 - pow(a, 2));
    case Op::atan:
      return 1.0 / (1.0 + pow(a, 2));
    case Op::sinh:
      return cosh(a);
    case Op::cosh:
      return sinh(a);
    case Op::tanh:
      return 1.0 - pow(e, 2);
    case Op::exp:
      return e;
    case Op::expm1:
      return exp(a);
    case Op::log:
      return 1.0 / a;
    case Op::log1p:
      return 1.0 / (1.0 + a);
    case Op::sqrt:
      return 0.5 / e;
    case Op::abs:
      return sign(a);
    case Op::sigmoid:
      return e * (1.0 - e);
    case Op::softplus:
      return sigmoid(a);
    case Op::erf:
      return 2.0 * std::numbers::inv_sqrtpi * exp(-pow(a, 2));
    case Op::lgamma:
      return g.make(Op::polygamma, g.number(0), a);
    default:
      break;
  }
  throw std::logic_error("no derivative for this operation");
}

Expr plus(Expr a, Expr b) { return !a ? b : !b ? a : a + b; }

// tangent · factor; a branch in which the tangent is zero stays zero, even where the factor has a pole.
Expr scaled(Expr tangent, Expr factor) {
  if (!tangent) return tangent;
  if (tangent.op() == Op::select && (tangent.operand(1).is_number(0) || tangent.operand(2).is_number(0)))
    return select(tangent.operand(0), scaled(tangent.operand(1), factor), scaled(tangent.operand(2), factor));
  return tangent * factor;
}

Expr power_rule(Expr e, Expr da, Expr db) {
  const Expr a = e.operand(0), b = e.operand(1);
  Expr out = scaled(da, b * pow(a, b - 1.0));
  // a^b log a, which is 0 at a = 0 where b > 0.
  if (db)
    out = plus(out,
               scaled(db, select(a.graph().make(Op::equal, a, a.graph().number(0)), a.graph().number(0), e * log(a))));
  return out;
}

// The tangent of e, given those of its operands (empty: zero).
Expr tangent_of(Expr e, Expr da, Expr db, Expr dc) {
  Graph& g = e.graph();
  const Expr zero = g.number(0);
  switch (e.op()) {
    case Op::add:
      return plus(da, db);
    case Op::sub:
      return plus(da, scaled(db, g.number(-1)));
    case Op::mul:
      return plus(scaled(da, e.operand(1)), scaled(db, e.operand(0)));
    case Op::div: {
      const Expr left = da ? da / e.operand(1) : da;
      return plus(left, db ? scaled(db, -(e / e.operand(1))) : db);
    }
    case Op::pow:
      return power_rule(e, da, db);
    case Op::min:
    case Op::max: {
      const Expr first = e.op() == Op::min ? less(e.operand(0), e.operand(1)) : less(e.operand(1), e.operand(0));
      return select(first, da ? da : zero, db ? db : zero);
    }
    case Op::select:
      return db || dc ? select(e.operand(0), db ? db : zero, dc ? dc : zero) : Expr{};
    case Op::relu:
      return select(less(zero, e.operand(0)), da, zero);
    case Op::polygamma:
      return scaled(db, g.make(Op::polygamma, e.operand(0) + 1.0, e.operand(1)));
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::sign:
      return {};
    case Op::mean:
      return da ? mean(da) : da;
    case Op::sum:
      return da ? sum(da) : da;
    default:
      return scaled(da, slope(e));
  }
}
}  // namespace

std::vector<Expr> differentiate(std::span<const Expr> roots, const Substitution& tangent) {
  std::unordered_map<std::uint32_t, Expr> d;
  for (const Expr e : reachable(roots)) {
    Expr r;
    if (const auto at = tangent.find(e.id()); at != tangent.end()) {
      r = at->second.is_number(0) ? Expr{} : at->second;
    } else if (e.arity() > 0) {
      Expr args[3];
      bool any = false;
      for (std::size_t i = 0; i < e.arity(); ++i) any = (args[i] = d.at(e.operand(i).id())) || any;
      if (any) r = tangent_of(e, args[0], args[1], args[2]);
    }
    d.emplace(e.id(), r);
  }
  std::vector<Expr> out;
  for (const Expr e : roots) out.push_back(d.at(e.id()) ? d.at(e.id()) : e.graph().number(0));
  return out;
}

Expr differentiate(Expr e, const Substitution& tangent) { return differentiate(std::span(&e, 1), tangent)[0]; }
Expr differentiate(Expr e, Expr symbol) { return differentiate(e, {{symbol.id(), e.graph().number(1)}}); }
}  // namespace mckean
