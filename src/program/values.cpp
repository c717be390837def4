#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "program/values.hpp"

namespace mckean {
namespace {

Instr instruction(Op op) {
  switch (op) {
    case Op::add:
      return Instr::add;
    case Op::sub:
      return Instr::sub;
    case Op::mul:
      return Instr::mul;
    case Op::div:
      return Instr::div;
    case Op::pow:
      return Instr::pow;
    case Op::min:
      return Instr::min;
    case Op::max:
      return Instr::max;
    case Op::less:
      return Instr::less;
    case Op::less_equal:
      return Instr::less_equal;
    case Op::equal:
      return Instr::equal;
    case Op::not_equal:
      return Instr::not_equal;
    case Op::polygamma:
      return Instr::polygamma;
    case Op::select:
      return Instr::select;
    case Op::neg:
      return Instr::neg;
    case Op::sin:
      return Instr::sin;
    case Op::cos:
      return Instr::cos;
    case Op::tan:
      return Instr::tan;
    case Op::asin:
      return Instr::asin;
    case Op::acos:
      return Instr::acos;
    case Op::atan:
      return Instr::atan;
    case Op::sinh:
      return Instr::sinh;
    case Op::cosh:
      return Instr::cosh;
    case Op::tanh:
      return Instr::tanh;
    case Op::exp:
      return Instr::exp;
    case Op::expm1:
      return Instr::expm1;
    case Op::log:
      return Instr::log;
    case Op::log1p:
      return Instr::log1p;
    case Op::sqrt:
      return Instr::sqrt;
    case Op::abs:
      return Instr::abs;
    case Op::sign:
      return Instr::sign;
    case Op::sigmoid:
      return Instr::sigmoid;
    case Op::softplus:
      return Instr::softplus;
    case Op::relu:
      return Instr::relu;
    case Op::erf:
      return Instr::erf;
    case Op::lgamma:
      return Instr::lgamma;
    case Op::number:
    case Op::symbol:
    case Op::mean:
    case Op::sum:
      break;
  }
  throw std::logic_error("no instruction for this node");
}

bool is_sum(Expr e) { return e.op() == Op::add || e.op() == Op::sub; }

bool is_product(Expr e) { return e.op() == Op::mul || (e.op() == Op::pow && e.operand(1).is_number(2)); }

bool is_integer_power(Expr e) {
  if (e.op() != Op::pow || !e.operand(1).is_number()) return false;
  const double n = e.operand(1).value();
  return n == std::trunc(n) && std::abs(n) <= 64;
}
}  // namespace

ValueGraph::ValueGraph(const ProgramSpec& spec) {
  for (const Expr e : spec.fixed) fixed.push_back(input(e, Rate::fixed));
  for (const Expr e : spec.uniforms) uniforms.push_back(input(e, Rate::step));
  for (const Expr e : spec.columns) columns.push_back(input(e, Rate::block));
  std::vector<Expr> roots = spec.outputs;
  roots.insert(roots.end(), spec.sums.begin(), spec.sums.end());
  const std::vector<Expr> nodes = reachable(roots);
  find_rates_and_uses(nodes, roots);
  for (const Expr e : nodes)
    if (!of_.contains(e.id()) && !only_used_by_sum(e)) of_[e.id()] = lower(e);
  for (const Expr e : spec.outputs) outputs.push_back(own_column(of_.at(e.id())));
  for (const Expr e : spec.sums) {
    const ValueId v = of_.at(e.id());
    sums.push_back(all[v].rate == Rate::block ? v : copy(v));
  }
  merge_sincos();
  count_uses();
}

ValueId ValueGraph::input(Expr e, Rate rate) {
  if (e.op() != Op::symbol) throw std::logic_error("a program's input must be a symbol");
  all.push_back({.rate = rate, .is_input = true});
  return of_[e.id()] = static_cast<ValueId>(all.size() - 1);
}

ValueId ValueGraph::number(double x) {
  const auto [at, fresh] = numbers_.try_emplace(std::bit_cast<std::uint64_t>(x), kNoValue);
  if (fresh) {
    all.push_back({.rate = Rate::fixed, .number = x, .is_input = true});
    at->second = static_cast<ValueId>(all.size() - 1);
  }
  return at->second;
}

ValueId ValueGraph::emit(Instr op, std::vector<ValueId> args) {
  Rate rate = Rate::fixed;
  for (const ValueId a : args) rate = std::max(rate, all[a].rate);
  all.push_back({.rate = rate, .op = op, .args = std::move(args)});
  return static_cast<ValueId>(all.size() - 1);
}

ValueId ValueGraph::lower(Expr e) {
  if (e.op() == Op::number) return number(e.value());
  if (e.op() == Op::symbol) throw std::logic_error("symbol " + to_text(e) + " is no input of the program");
  if (is_sum(e) && rate(e) == Rate::block) return lower_sum(e);
  std::vector<ValueId> args;
  for (std::size_t i = 0; i < e.arity(); ++i) args.push_back(of_.at(e.operand(i).id()));
  if (is_integer_power(e)) {
    const int n = static_cast<int>(e.operand(1).value());
    const ValueId p = power(args[0], std::abs(n));
    return n > 0 ? p : inverse(p);
  }
  // A quotient by something hoisted is a product with its hoisted inverse.
  if (e.op() == Op::div && all[args[0]].rate > all[args[1]].rate) {
    const ValueId i = inverse(args[1]);
    return emit(Instr::mul, {args[0], i});
  }
  return emit(instruction(e.op()), std::move(args));
}

void ValueGraph::find_rates_and_uses(const std::vector<Expr>& nodes, const std::vector<Expr>& roots) {
  std::unordered_map<std::uint32_t, std::size_t> uses;
  std::unordered_map<std::uint32_t, bool> in_sum;
  for (const Expr e : roots) uses[e.id()] += 2;  // a result needs a column, whoever else reads it
  for (const Expr e : nodes) {
    const auto at = of_.find(e.id());
    Rate r = at != of_.end() ? all[at->second].rate : Rate::fixed;
    for (std::size_t i = 0; i < e.arity(); ++i) {
      r = std::max(r, rate(e.operand(i)));
      ++uses[e.operand(i).id()];
      in_sum[e.operand(i).id()] = is_sum(e);
    }
    rates_[e.id()] = r;
  }
  for (const Expr e : nodes)
    if ((is_sum(e) || is_product(e)) && rate(e) == Rate::block && uses[e.id()] == 1 && in_sum[e.id()])
      absorbed_[e.id()] = true;
}

// A sum taken apart, as it is written: nothing is multiplied out.
struct ValueGraph::Sum {
  struct Term {
    Expr column, coefficient;  // hoisted; empty: 1
    bool negative;
  };
  struct Part {
    Expr e;
    bool negative;
  };
  std::vector<Term> terms;
  std::vector<Part> constants;  // hoisted
  std::vector<Part> products;   // of two columns
};

ValueGraph::Sum ValueGraph::collect(Expr root) const {
  Sum sum;
  std::vector<Sum::Part> stack{{root, false}};
  while (!stack.empty()) {
    const auto [e, negative] = stack.back();
    stack.pop_back();
    if (rate(e) != Rate::block) {
      sum.constants.push_back({e, negative});
    } else if (is_sum(e) && (e == root || only_used_by_sum(e))) {
      stack.push_back({e.operand(1), negative != (e.op() == Op::sub)});
      stack.push_back({e.operand(0), negative});
    } else if (is_product(e) && only_used_by_sum(e)) {
      const Expr a = e.operand(0), b = e.op() == Op::mul ? e.operand(1) : a;
      if (rate(a) != Rate::block)
        sum.terms.push_back({b, a, negative});
      else if (rate(b) != Rate::block)
        sum.terms.push_back({a, b, negative});
      else
        sum.products.push_back({e, negative});
    } else {
      sum.terms.push_back({e, {}, negative});
    }
  }
  return sum;
}

// u_0 + Σ u_i c_i with hoisted u_i is one pass over the columns; products of columns are added to it.
ValueId ValueGraph::lower_sum(Expr root) {
  const Sum sum = collect(root);
  const auto value = [&](Expr e) { return of_.at(e.id()); };
  ValueId constant = kNoValue;
  for (const auto& [e, negative] : sum.constants) {
    if (constant == kNoValue)
      constant = negative ? emit(Instr::neg, {value(e)}) : value(e);
    else
      constant = emit(negative ? Instr::sub : Instr::add, {constant, value(e)});
  }
  ValueId total = kNoValue;
  if (sum.terms.size() + (constant != kNoValue) >= 3) {
    std::vector<ValueId> args{constant};
    for (const auto& t : sum.terms) {
      const ValueId u = t.coefficient ? value(t.coefficient) : number(1);
      args.push_back(value(t.column));
      args.push_back(t.negative ? emit(Instr::neg, {u}) : u);
    }
    all.push_back({.rate = Rate::block, .args = std::move(args), .is_combination = true});
    total = static_cast<ValueId>(all.size() - 1);
  } else {
    total = constant;
    for (const auto& t : sum.terms) {
      const ValueId c = value(t.column);
      if (t.coefficient && total != kNoValue) {
        total = emit(t.negative ? Instr::fnma : Instr::fma, {value(t.coefficient), c, total});
      } else if (total != kNoValue) {
        total = emit(t.negative ? Instr::sub : Instr::add, {total, c});
      } else {
        total = t.coefficient ? emit(Instr::mul, {value(t.coefficient), c}) : c;
        if (t.negative) total = emit(Instr::neg, {total});
      }
    }
  }
  for (const auto& [e, negative] : sum.products) {
    const ValueId a = value(e.operand(0)), b = e.op() == Op::mul ? value(e.operand(1)) : a;
    const bool negated = total != kNoValue && all[total].op == Instr::neg && !all[total].is_input && !negative;
    if (negated)
      total = emit(Instr::fms, {a, b, all[total].args[0]});  // a*b - c rather than a*b + (-c)
    else if (total != kNoValue)
      total = emit(negative ? Instr::fnma : Instr::fma, {a, b, total});
    else
      total = negative ? emit(Instr::neg, {emit(Instr::mul, {a, b})}) : emit(Instr::mul, {a, b});
  }
  return total;
}

ValueId ValueGraph::inverse(ValueId a) {
  const auto [at, fresh] = inverses_.try_emplace(a, kNoValue);
  if (fresh) {
    const ValueId one = number(1);
    at->second = emit(Instr::div, {one, a});
  }
  return at->second;
}

ValueId ValueGraph::power(ValueId a, int n) {
  if (n == 1) return a;
  if (const auto at = powers_.find({a, n}); at != powers_.end()) return at->second;
  const ValueId half = power(a, n / 2);
  ValueId p = emit(Instr::mul, {half, half});
  if (n % 2) p = emit(Instr::mul, {p, a});
  return powers_[{a, n}] = p;
}

ValueId ValueGraph::copy(ValueId v) {
  const ValueId c = emit(Instr::copy, {v});
  all[c].rate = Rate::block;
  return c;
}

// What is put out must be a column that is written nowhere else.
ValueId ValueGraph::own_column(ValueId v) {
  const bool own = all[v].rate == Rate::block && !all[v].is_input && std::ranges::find(outputs, v) == outputs.end();
  return own ? v : copy(v);
}

void ValueGraph::merge_sincos() {
  std::map<ValueId, ValueId> sines;
  for (ValueId v = 0; v < all.size(); ++v)
    if (all[v].op == Instr::sin && !all[v].is_input) sines[all[v].args[0]] = v;
  for (ValueId v = 0; v < all.size(); ++v) {
    if (all[v].op != Instr::cos) continue;
    const auto at = sines.find(all[v].args[0]);
    if (at == sines.end()) continue;
    all[v].twin = at->second;
    all[at->second].twin = v;
    all[std::max(v, at->second)].is_twin = true;
  }
}

void ValueGraph::count_uses() {
  for (Value& v : all) v.uses = 0;
  for (const auto* results : {&outputs, &sums})
    for (const ValueId r : *results) ++all[r].uses;
  for (ValueId v = static_cast<ValueId>(all.size()); v-- > 0;)
    if (all[v].uses > 0 || (all[v].twin != kNoValue && all[all[v].twin].uses > 0))
      for (const ValueId a : all[v].args)
        if (a != kNoValue) ++all[a].uses;
}
}  // namespace mckean
