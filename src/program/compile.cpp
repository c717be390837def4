// ValueGraph → instructions with places in memory.
#include <algorithm>

#include "program/values.hpp"

namespace mckean {

class Compiler {
 public:
  Compiler(const ProgramSpec& spec, Program& program)
      : values_(spec), program_(program), slot_(values_.all.size(), kNoValue) {
    place_scalars();
    order();
    place_columns();
    write();
  }

 private:
  using Slot = Program::Slot;
  const Value& value(ValueId v) const { return values_.all[v]; }

  // Hoisted values each have a slot of their own.
  void place_scalars() {
    Slot next = 0;
    for (ValueId v = 0; v < values_.all.size(); ++v)
      if (value(v).rate != Rate::block && (value(v).uses > 0 || value(v).is_input)) slot_[v] = next++;
    program_.scalars_ = next;
    for (ValueId v = 0; v < values_.all.size(); ++v)
      if (value(v).number) program_.numbers_.emplace_back(slot_[v], *value(v).number);
    for (const ValueId v : values_.fixed) program_.fixed_inputs_.push_back(slot_[v]);
    for (const ValueId v : values_.uniforms) program_.uniform_inputs_.push_back(slot_[v]);
  }

  // Block instructions in an order that follows each result down to what it needs (short lifetimes).
  void order() {
    std::vector<bool> done(values_.all.size());
    std::vector<std::pair<ValueId, bool>> stack;
    for (const auto* results : {&values_.sums, &values_.outputs})
      for (auto r = results->rbegin(); r != results->rend(); ++r) stack.emplace_back(*r, false);
    while (!stack.empty()) {
      const auto [v, ready] = stack.back();
      stack.pop_back();
      const Value& x = value(v);
      if (x.rate != Rate::block || x.is_input || done[v]) continue;
      if (x.is_twin) {
        done[v] = true;
        stack.emplace_back(x.twin, false);
      } else if (ready) {
        done[v] = true;
        order_.push_back(v);
      } else {
        stack.emplace_back(v, true);
        for (auto a = x.args.rbegin(); a != x.args.rend(); ++a)
          if (*a != kNoValue) stack.emplace_back(*a, false);
      }
    }
  }

  // Behind the scalars: temporaries, which are used again after their last use; input columns; output columns.
  void place_columns() {
    std::vector<std::size_t> last_use(values_.all.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (const ValueId a : value(order_[i]).args)
        if (a != kNoValue) last_use[a] = i;
    for (const ValueId v : values_.sums) last_use[v] = order_.size();

    std::vector<bool> temporary(values_.all.size());
    std::vector<Slot> free;
    for (std::size_t k = 0; k < values_.outputs.size(); ++k) slot_[values_.outputs[k]] = static_cast<Slot>(k);
    const auto place = [&](ValueId v) {
      if (slot_[v] != kNoValue) return;
      if (free.empty()) free.push_back(static_cast<Slot>(program_.temporaries_++));
      slot_[v] = free.back();
      temporary[v] = true;
      free.pop_back();
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Value& x = value(order_[i]);
      place(order_[i]);
      if (x.twin != kNoValue) place(x.twin);
      for (const ValueId a : x.args)
        if (a != kNoValue && temporary[a] && last_use[a] == i && std::ranges::find(free, slot_[a]) == free.end())
          free.push_back(slot_[a]);
    }

    program_.columns_ = values_.columns.size();
    program_.outputs_ = values_.outputs.size();
    const auto first = static_cast<Slot>(program_.scalars_);
    const auto inputs = first + static_cast<Slot>(program_.temporaries_),
               outputs = inputs + static_cast<Slot>(program_.columns_);
    for (ValueId v = 0; v < values_.all.size(); ++v)
      if (temporary[v]) slot_[v] += first;
    for (const ValueId v : values_.outputs) slot_[v] += outputs;
    for (std::size_t k = 0; k < values_.columns.size(); ++k) slot_[values_.columns[k]] = inputs + static_cast<Slot>(k);
  }

  void write() {
    for (ValueId v = 0; v < values_.all.size(); ++v) {
      const Value& x = value(v);
      const bool needed = x.uses > 0 || (x.twin != kNoValue && value(x.twin).uses > 0);
      if (x.rate == Rate::block || x.is_input || x.is_twin || !needed) continue;
      (x.rate == Rate::fixed ? program_.fixed_ : program_.step_).push_back(encode(v));
    }
    for (const ValueId v : order_) program_.block_.push_back(encode(v));
    for (const ValueId v : values_.sums) program_.sums_.push_back(slot_[v]);
  }

  Program::Step encode(ValueId v) {
    const Value& x = value(v);
    if (x.is_combination) return encode_combination(v);
    const auto arg = [&](std::size_t i) { return i < x.args.size() ? slot_[x.args[i]] : 0; };
    if (x.twin == kNoValue) return {x.op, false, slot_[v], 0, arg(0), arg(1), arg(2)};
    const bool sine = x.op == Instr::sin;
    return {Instr::sincos, false, slot_[sine ? v : x.twin], slot_[sine ? x.twin : v], arg(0), 0, 0};
  }

  Program::Step encode_combination(ValueId v) {
    const Value& x = value(v);
    Program::Combination c{x.args[0] != kNoValue, x.args[0] != kNoValue ? slot_[x.args[0]] : 0, {}, {}};
    for (std::size_t i = 1; i < x.args.size(); i += 2) {
      c.columns.push_back(slot_[x.args[i]]);
      c.coefficients.push_back(slot_[x.args[i + 1]]);
    }
    program_.combinations_.push_back(std::move(c));
    return {Instr::copy, true, slot_[v], 0, static_cast<Slot>(program_.combinations_.size() - 1), 0, 0};
  }

  ValueGraph values_;
  Program& program_;
  std::vector<Slot> slot_;
  std::vector<ValueId> order_;
};

Program::Program(const ProgramSpec& spec) { Compiler(spec, *this); }
double Program::cost() const {
  constexpr double kFunction = 8;
  double out = 0;
  for (const Step& s : block_) {
    if (s.combination)
      out += static_cast<double>(combinations_[s.a].columns.size());
    else
      out += s.op >= Instr::sin ? kFunction : 1;
  }
  return out;
}
}  // namespace mckean
