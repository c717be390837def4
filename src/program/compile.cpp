#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "program/program.hpp"

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

enum Rate : std::uint8_t { fixed, step, block };
constexpr std::uint32_t kUnset = ~0u;

// A value of the program: an input, or what one instruction computes.
struct Value {
  Rate rate;
  Instr op = Instr::copy;
  std::uint32_t a = kUnset, b = kUnset, c = kUnset;  // values
  std::optional<double> number{};
  std::uint32_t twin = kUnset;  // the cosine of a sine, or the other way round: one instruction computes both
  bool is_twin = false;         // the later of the two: the earlier one carries the instruction
  bool is_input = false, emitted = false;
  std::uint32_t uses = 0, last_use = 0, slot = kUnset;
};

bool is_integer_power(Expr e) {
  if (e.op() != Op::pow || !e.operand(1).is_number()) return false;
  const double n = e.operand(1).value();
  return n == std::trunc(n) && std::abs(n) <= 64;
}
}  // namespace

class Compiler {
 public:
  Compiler(const ProgramSpec& spec, Program& program) : spec_(spec), program_(program) {
    for (const Expr e : spec.fixed) program.fixed_inputs_.push_back(input(e, Rate::fixed));
    for (const Expr e : spec.uniforms) program.uniform_inputs_.push_back(input(e, Rate::step));
    for (const Expr e : spec.columns) input(e, Rate::block);
    std::vector<Expr> roots = spec.outputs;
    roots.insert(roots.end(), spec.sums.begin(), spec.sums.end());
    for (const Expr e : reachable(roots)) lower(e);
    for (const Expr e : roots) results_.push_back(as_result(of_.at(e.id())));
    merge_sincos();
    fuse();
    allocate();
  }

 private:
  std::uint32_t input(Expr e, Rate rate) {
    if (e.op() != Op::symbol) throw std::logic_error("a program's input must be a symbol");
    Value v{rate};
    v.is_input = true;
    values_.push_back(v);
    return of_[e.id()] = last();
  }

  std::uint32_t last() const { return static_cast<std::uint32_t>(values_.size() - 1); }

  std::uint32_t number(double x) {
    const auto [at, fresh] = numbers_.try_emplace(x, kUnset);
    if (fresh) {
      Value v{Rate::fixed};
      v.number = x;
      v.is_input = true;
      values_.push_back(v);
      at->second = last();
    }
    return at->second;
  }

  std::uint32_t emit(Instr op, std::uint32_t a, std::uint32_t b = kUnset, std::uint32_t c = kUnset) {
    Value v{Rate::fixed, op, a, b, c};
    for (const std::uint32_t s : {a, b, c})
      if (s != kUnset) v.rate = std::max(v.rate, values_[s].rate);
    values_.push_back(v);
    return last();
  }

  void lower(Expr e) {
    if (of_.contains(e.id())) return;
    of_[e.id()] = lowered(e);
  }

  std::uint32_t lowered(Expr e) {
    if (e.op() == Op::number) return number(e.value());
    if (e.op() == Op::symbol) throw std::logic_error("symbol " + to_text(e) + " is no input of the program");
    const std::uint32_t a = of_.at(e.operand(0).id());
    const std::uint32_t b = e.arity() > 1 ? of_.at(e.operand(1).id()) : kUnset;
    const std::uint32_t c = e.arity() > 2 ? of_.at(e.operand(2).id()) : kUnset;
    if (is_integer_power(e)) {
      const int n = static_cast<int>(e.operand(1).value());
      const std::uint32_t p = power(a, std::abs(n));
      return n > 0 ? p : inverse(p);
    }
    // A quotient by something hoisted is a product with its hoisted inverse.
    if (e.op() == Op::div && values_[a].rate > values_[b].rate) return emit(Instr::mul, a, inverse(b));
    return emit(instruction(e.op()), a, b, c);
  }

  std::uint32_t inverse(std::uint32_t a) {
    const auto [at, fresh] = inverses_.try_emplace(a, kUnset);
    if (fresh) at->second = emit(Instr::div, number(1), a);
    return at->second;
  }

  std::uint32_t power(std::uint32_t a, int n) {
    if (n == 1) return a;
    const auto [at, fresh] = powers_.try_emplace({a, n}, kUnset);
    if (fresh) {
      const std::uint32_t half = power(a, n / 2);
      std::uint32_t p = emit(Instr::mul, half, half);
      if (n % 2) p = emit(Instr::mul, p, a);
      powers_[{a, n}] = p;
    }
    return powers_[{a, n}];
  }

  // A result must be a column of its own: inputs, hoisted values and repeated results are copied.
  std::uint32_t as_result(std::uint32_t v) {
    const bool fine = values_[v].rate == Rate::block && !values_[v].is_input &&
                      std::ranges::find(results_, v) == results_.end();
    if (fine) return v;
    const std::uint32_t copy = emit(Instr::copy, v);
    values_[copy].rate = Rate::block;
    return copy;
  }

  void merge_sincos() {
    std::map<std::uint32_t, std::uint32_t> sines;
    for (std::uint32_t v = 0; v < values_.size(); ++v)
      if (values_[v].op == Instr::sin) sines[values_[v].a] = v;
    for (std::uint32_t v = 0; v < values_.size(); ++v) {
      const auto at = values_[v].op == Instr::cos ? sines.find(values_[v].a) : sines.end();
      if (at == sines.end()) continue;
      const std::uint32_t sine = at->second;
      values_[v].twin = sine;
      values_[sine].twin = v;
      values_[std::max(v, sine)].is_twin = true;
    }
  }

  void count_uses() {
    for (Value& v : values_) v.uses = 0;
    std::vector<std::uint32_t> stack = results_;
    for (const std::uint32_t r : results_) ++values_[r].uses;
    std::vector<bool> seen(values_.size());
    while (!stack.empty()) {
      const std::uint32_t v = stack.back();
      stack.pop_back();
      if (seen[v]) continue;
      seen[v] = true;
      for (const std::uint32_t s : {values_[v].a, values_[v].b, values_[v].c})
        if (s != kUnset) ++values_[s].uses, stack.push_back(s);
    }
  }

  // a*b + c, a*b - c and c - a*b where nothing else needs the product.
  void fuse() {
    count_uses();
    const auto is_product = [&](std::uint32_t s, Rate rate) {
      return values_[s].op == Instr::mul && values_[s].uses == 1 && values_[s].rate == rate &&
             std::ranges::find(results_, s) == results_.end();
    };
    for (Value& v : values_) {
      if (v.uses == 0 || (v.op != Instr::add && v.op != Instr::sub)) continue;
      const bool subtract = v.op == Instr::sub;
      if (is_product(v.a, v.rate)) {
        const Value& p = values_[v.a];
        v = fused(v, subtract ? Instr::fms : Instr::fma, p.a, p.b, v.b);
      } else if (is_product(v.b, v.rate)) {
        const Value& p = values_[v.b];
        v = fused(v, subtract ? Instr::fnma : Instr::fma, p.a, p.b, v.a);
      }
    }
    count_uses();
  }

  static Value fused(Value v, Instr op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    v.op = op, v.a = a, v.b = b, v.c = c;
    return v;
  }

  void allocate() {
    // Scalars: numbers, hoisted inputs and results, each with a slot of its own.
    std::uint32_t next = 0;
    for (Value& v : values_)
      if (v.rate != Rate::block && (v.uses > 0 || (v.is_input && !v.number))) v.slot = next++;
    program_.scalars_ = next;
    for (const Value& v : values_)
      if (v.number && v.uses > 0) program_.numbers_.emplace_back(v.slot, *v.number);
    for (auto* inputs : {&program_.fixed_inputs_, &program_.uniform_inputs_})
      for (std::uint32_t& v : *inputs) v = values_[v].slot;

    order();
    // Temporaries: reused after their last use. Inputs and outputs follow them in the table of slots.
    for (std::uint32_t i = 0; i < order_.size(); ++i)
      for (const std::uint32_t s : {values_[order_[i]].a, values_[order_[i]].b, values_[order_[i]].c})
        if (s != kUnset) values_[s].last_use = i;
    const std::size_t outputs = spec_.outputs.size();
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (r >= outputs) values_[results_[r]].last_use = static_cast<std::uint32_t>(order_.size());
    constexpr std::uint32_t kInputs = 1u << 24, kOutputs = 1u << 25, kTemporaries = 1u << 26;
    std::uint32_t column = 0;
    for (Value& v : values_)
      if (v.rate == Rate::block && v.is_input) v.slot = kInputs + column++;
    for (std::size_t r = 0; r < outputs; ++r)
      values_[results_[r]].slot = kOutputs + static_cast<std::uint32_t>(r);
    std::vector<std::uint32_t> free;
    std::uint32_t temporaries = 0;
    const auto place = [&](std::uint32_t v) {
      if (values_[v].slot != kUnset) return;
      if (free.empty()) free.push_back(kTemporaries + temporaries++);
      values_[v].slot = free.back();
      free.pop_back();
    };
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
      const Value& v = values_[order_[i]];
      if (v.twin != kUnset) place(v.twin);
      place(order_[i]);
      for (const std::uint32_t s : {v.a, v.b, v.c})
        if (s != kUnset && values_[s].last_use == i && values_[s].slot >= kTemporaries &&
            std::ranges::find(free, values_[s].slot) == free.end())
          free.push_back(values_[s].slot);
    }
    program_.temporaries_ = temporaries;
    program_.columns_ = spec_.columns.size();
    program_.outputs_ = outputs;
    const auto slot = [&](std::uint32_t v) -> Program::Slot {
      if (v == kUnset) return 0;
      const std::uint32_t s = values_[v].slot;
      const auto scalars = static_cast<std::uint32_t>(program_.scalars_);
      if (s >= kTemporaries) return scalars + (s - kTemporaries);
      if (s >= kOutputs) return scalars + temporaries + column + (s - kOutputs);
      if (s >= kInputs) return scalars + temporaries + (s - kInputs);
      return s;
    };
    for (std::uint32_t v = 0; v < values_.size(); ++v) write(v, slot);
    for (const std::uint32_t v : order_) write_block(v, slot);
    for (std::size_t r = outputs; r < results_.size(); ++r) program_.sums_.push_back(slot(results_[r]));
  }

  // Block instructions in an order that follows each result down to what it needs (short lifetimes).
  void order() {
    std::vector<std::pair<std::uint32_t, bool>> stack;
    for (auto r = results_.rbegin(); r != results_.rend(); ++r) stack.emplace_back(*r, false);
    while (!stack.empty()) {
      const auto [v, ready] = stack.back();
      stack.pop_back();
      Value& value = values_[v];
      if (value.rate != Rate::block || value.is_input || value.emitted) continue;
      if (value.is_twin) {
        stack.emplace_back(value.twin, false);
        value.emitted = true;
        continue;
      }
      if (ready) {
        value.emitted = true;
        order_.push_back(v);
        continue;
      }
      stack.emplace_back(v, true);
      for (const std::uint32_t s : {value.c, value.b, value.a})
        if (s != kUnset) stack.emplace_back(s, false);
    }
  }

  template <class SlotOf>
  Program::Step encode(std::uint32_t v, SlotOf slot) const {
    const Value& x = values_[v];
    if (x.twin == kUnset) return {x.op, slot(v), 0, slot(x.a), slot(x.b), slot(x.c)};
    const bool sine = x.op == Instr::sin;
    return {Instr::sincos, slot(sine ? v : x.twin), slot(sine ? x.twin : v), slot(x.a), 0, 0};
  }

  template <class SlotOf>
  void write(std::uint32_t v, SlotOf slot) {  // hoisted values, in order of creation: operands come first
    const Value& x = values_[v];
    if (x.rate == Rate::block || x.is_input || x.is_twin) return;
    if (x.uses == 0) return;
    (x.rate == Rate::fixed ? program_.fixed_ : program_.step_).push_back(encode(v, slot));
  }

  template <class SlotOf>
  void write_block(std::uint32_t v, SlotOf slot) {
    program_.block_.push_back(encode(v, slot));
  }

  const ProgramSpec& spec_;
  Program& program_;
  std::vector<Value> values_;
  std::unordered_map<std::uint32_t, std::uint32_t> of_;  // node → value
  std::map<double, std::uint32_t> numbers_;
  std::map<std::uint32_t, std::uint32_t> inverses_;
  std::map<std::pair<std::uint32_t, int>, std::uint32_t> powers_;
  std::vector<std::uint32_t> results_, order_;
};

Program::Program(const ProgramSpec& spec) { Compiler(spec, *this); }
}  // namespace mckean
