#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "expr/functions.hpp"
#include "mckean/expr.hpp"

namespace mckean {
namespace {

enum Precedence { comparison = 1, additive, multiplicative, negation, power, atom };

struct Text {
  std::string text;
  int precedence;
};

std::string wrap(const Text& t, int at_least) {
  return t.precedence >= at_least ? t.text : fmt::format("({})", t.text);
}

// left op right, where the right operand of a non-associative operator needs one precedence more.
Text infix(const Text& a, const char* op, const Text& b, int precedence, bool right_tighter = true) {
  return {wrap(a, precedence) + op + wrap(b, precedence + (right_tighter ? 1 : 0)), precedence};
}

Text print_node(Expr e, const Text* args) {
  switch (e.op()) {
    case Op::number:
      return {number_to_text(e.value()), e.value() < 0 ? negation : atom};
    case Op::symbol:
      return {to_text(e.symbol()), atom};
    case Op::add:
      return infix(args[0], " + ", args[1], additive);
    case Op::sub:
      return infix(args[0], " - ", args[1], additive);
    case Op::mul:
      return infix(args[0], "*", args[1], multiplicative);
    case Op::div:
      return infix(args[0], "/", args[1], multiplicative);
    case Op::pow:
      return {wrap(args[0], atom) + "^" + wrap(args[1], atom), power};
    case Op::neg:
      return {fmt::format("-{}", wrap(args[0], negation)), negation};
    case Op::less:
      return {wrap(args[0], additive) + " < " + wrap(args[1], additive), comparison};
    case Op::less_equal:
      return {wrap(args[0], additive) + " <= " + wrap(args[1], additive), comparison};
    case Op::equal:
      return {wrap(args[0], additive) + " == " + wrap(args[1], additive), comparison};
    case Op::not_equal:
      return {wrap(args[0], additive) + " != " + wrap(args[1], additive), comparison};
    default:
      break;
  }
  std::string call = std::string(function_name(e.op())) + "(";
  for (std::size_t i = 0; i < e.arity(); ++i) call += (i ? ", " : "") + args[i].text;
  return {call + ")", atom};
}
}  // namespace

std::string number_to_text(double v) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  return {buffer, end};
}

std::string to_text(const Symbol& s) {
  std::string text = s.name;
  if (s.index >= 0) text += fmt::format("[{}]", s.index + 1);
  if (s.kind == Kind::other_state) text.insert(s.name.size(), "'");
  return text;
}

std::string to_text(Expr root) {
  std::unordered_map<std::uint32_t, Text> done;
  for (const Expr e : reachable(std::span(&root, 1))) {
    Text args[3];
    for (std::size_t i = 0; i < e.arity(); ++i) args[i] = done.at(e.operand(i).id());
    done.emplace(e.id(), print_node(e, args));
  }
  return done.at(root.id()).text;
}
}  // namespace mckean
