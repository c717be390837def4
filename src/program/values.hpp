// The values that a program computes, before they get a place in memory.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "program/program.hpp"

namespace mckean {

enum class Rate : std::uint8_t { fixed, step, block };

using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = ~0u;

// An input, or what one instruction computes from `args`.
struct Value {
  Rate rate;
  Instr op = Instr::copy;
  std::vector<ValueId> args{};  // of a combination: constant or none, then columns and their coefficients in turn
  std::optional<double> number{};
  ValueId twin = kNoValue;  // the cosine of a sine, or the other way round: one instruction computes both
  bool is_twin = false;     // the later of the two: the earlier one carries the instruction
  bool is_input = false, is_combination = false;
  std::uint32_t uses = 0;
};

// Graph → values: shared, hoisted, fused. Operands always precede the values that use them.
struct ValueGraph {
  explicit ValueGraph(const ProgramSpec&);

  std::vector<Value> all;
  std::vector<ValueId> fixed, uniforms, columns;  // inputs
  std::vector<ValueId> outputs, sums;             // results

 private:
  struct Sum;

  ValueId input(Expr, Rate);
  ValueId number(double);
  ValueId emit(Instr, std::vector<ValueId>);
  ValueId lower(Expr);
  ValueId inverse(ValueId);
  ValueId power(ValueId, int);
  ValueId copy(ValueId);
  ValueId own_column(ValueId);
  void find_rates_and_uses(const std::vector<Expr>& nodes, const std::vector<Expr>& roots);
  Rate rate(Expr e) const { return rates_.at(e.id()); }
  bool only_used_by_sum(Expr e) const { return absorbed_.contains(e.id()); }
  Sum collect(Expr) const;
  ValueId lower_sum(Expr);
  void merge_sincos();
  void count_uses();

  std::unordered_map<std::uint32_t, ValueId> of_;     // node → value
  std::unordered_map<std::uint32_t, Rate> rates_;     // of nodes
  std::unordered_map<std::uint32_t, bool> absorbed_;  // nodes that only one sum reads: it computes them itself
  std::map<std::uint64_t, ValueId> numbers_;          // by their bits: NaN has no order
  std::map<ValueId, ValueId> inverses_;
  std::map<std::pair<ValueId, int>, ValueId> powers_;
};
}  // namespace mckean
