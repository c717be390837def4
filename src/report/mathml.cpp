#include "report/mathml.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "expr/functions.hpp"
#include "report/html.hpp"

namespace mckean::report {
namespace {

enum Precedence { comparison = 1, additive, multiplicative, negation, power, atom };

struct Math {
  std::string text;
  int precedence;
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 36> kGreek{
    {{"alpha", "α"},   {"beta", "β"},  {"gamma", "γ"},  {"delta", "δ"},   {"epsilon", "ε"}, {"zeta", "ζ"},
     {"eta", "η"},     {"theta", "θ"}, {"iota", "ι"},   {"kappa", "κ"},   {"lambda", "λ"},  {"mu", "μ"},
     {"nu", "ν"},      {"xi", "ξ"},    {"pi", "π"},     {"rho", "ρ"},     {"sigma", "σ"},   {"tau", "τ"},
     {"upsilon", "υ"}, {"phi", "φ"},   {"chi", "χ"},    {"psi", "ψ"},     {"omega", "ω"},   {"Gamma", "Γ"},
     {"Delta", "Δ"},   {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},      {"Pi", "Π"},      {"Sigma", "Σ"},
     {"Phi", "Φ"},     {"Psi", "Ψ"},   {"Omega", "Ω"},  {"Upsilon", "Υ"}, {"varphi", "ϕ"},  {"vartheta", "ϑ"}}};

std::string mi(std::string_view name) {
  for (const auto& [word, letter] : kGreek)
    if (word == name) return fmt::format("<mi>{}</mi>", letter);
  // One letter is set in italics by the browser, several upright.
  return fmt::format("<mi>{}</mi>", escaped(name));
}

std::string wrap(const Math& m, int at_least) { return m.precedence >= at_least ? m.text : in_parentheses(m.text); }

constexpr std::string_view kMinus = "<mo form=\"prefix\">−</mo>";

// On the right of an operator nothing begins with a minus.
std::string wrap_right(const Math& m, int at_least) {
  return m.text.starts_with(kMinus) ? in_parentheses(m.text) : wrap(m, at_least);
}

// Two factors that would be read as one word, or as a number, are told apart by a dot; others by a thin space.
Math product(const Math& a, const Math& b) {
  const std::string left = wrap(a, multiplicative), right = wrap_right(b, multiplicative + 1);
  const bool dot = right.starts_with("<mn>") || right.starts_with("<msup><mn>");
  return {left + (dot ? "<mo>·</mo>" : "<mo lspace=\"0\" rspace=\"0.17em\">&#x2062;</mo>") + right, multiplicative};
}

Math infix(const Math& a, const char* op, const Math& b, int precedence) {
  return {wrap(a, precedence) + mo(op) + wrap_right(b, precedence + 1), precedence};
}

Math call(std::string_view name, const std::vector<std::string>& arguments) {
  std::string inner;
  for (std::size_t i = 0; i < arguments.size(); ++i) inner += (i ? "<mo>,</mo>" : "") + arguments[i];
  return {fmt::format("<mrow><mi>{}</mi><mo>&#x2061;</mo>{}</mrow>", name, in_parentheses(inner)), atom};
}

Math select(const Math* a) {
  return {
      fmt::format("<mrow><mo>{{</mo><mtable><mtr><mtd>{}</mtd><mtd><mtext>if </mtext>{}</mtd></mtr><mtr><mtd>{}</mtd>"
                  "<mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
                  a[1].text, a[0].text, a[2].text),
      additive};
}

Math node(Expr e, const Math* a) {
  const auto compare = [&](const char* op) {
    return Math{wrap(a[0], additive) + mo(op) + wrap(a[1], additive), comparison};
  };
  switch (e.op()) {
    case Op::number:
      return {mathml_number(e.value()), e.value() < 0 ? negation : atom};
    case Op::symbol:
      return {mathml(e.symbol()), atom};
    case Op::add:
      return infix(a[0], "+", a[1], additive);
    case Op::sub:
      return infix(a[0], "−", a[1], additive);
    case Op::mul:
      return product(a[0], a[1]);
    case Op::div:
      return {fmt::format("<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>", a[0].text, a[1].text), power};
    case Op::pow:
      return {fmt::format("<msup>{}<mrow>{}</mrow></msup>", wrap(a[0], atom), a[1].text), power};
    case Op::neg:
      return {std::string(kMinus) + wrap_right(a[0], multiplicative), negation};
    case Op::sqrt:
      return {"<msqrt>" + a[0].text + "</msqrt>", atom};
    case Op::abs:
      return {"<mrow><mo>|</mo>" + a[0].text + "<mo>|</mo></mrow>", atom};
    case Op::exp:
      return {"<msup><mi mathvariant=\"normal\">e</mi><mrow>" + a[0].text + "</mrow></msup>", power};
    case Op::select:
      return select(a);
    case Op::less:
      return compare("&lt;");
    case Op::less_equal:
      return compare("≤");
    case Op::equal:
      return compare("=");
    case Op::not_equal:
      return compare("≠");
    case Op::lgamma:
      return call("log Γ", {a[0].text});
    default:
      break;
  }
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < e.arity(); ++i) arguments.push_back(a[i].text);
  return call(function_name(e.op()), arguments);
}
}  // namespace

// They grow with fractions and matrices alone: a browser without a font for formulas makes too much of a prime.
std::string in_parentheses(const std::string& inner) {
  const bool tall = inner.find("<mfrac") != std::string::npos || inner.find("<mtable") != std::string::npos;
  const char* const stretch = tall ? "" : " stretchy=\"false\"";
  return fmt::format("<mrow><mo{0}>(</mo>{1}<mo{0}>)</mo></mrow>", stretch, inner);
}

std::string mathml_number(double v) {
  const std::string text = number_to_text(v < 0 ? -v : v);
  const std::size_t e = text.find('e');
  std::string out = e == std::string::npos
                        ? fmt::format("<mn>{}</mn>", text)
                        : fmt::format("<mrow><mn>{}</mn><mo>·</mo><msup><mn>10</mn><mn>{}</mn></msup></mrow>",
                                      text.substr(0, e), std::stoi(text.substr(e + 1)));
  return v < 0 ? std::string(kMinus) + out : out;
}

std::string mathml_name(const std::string& name) {
  const std::size_t line = name.find('_');
  if (line == std::string::npos || line == 0 || line + 1 == name.size()) return mi(name);
  return fmt::format("<msub>{}{}</msub>", mi(name.substr(0, line)), mi(name.substr(line + 1)));
}

std::string mathml(const Symbol& s) {
  std::string out = mathml_name(s.name);
  if (s.index >= 0) out = fmt::format("<msub>{}<mn>{}</mn></msub>", out, s.index + 1);
  if (s.kind == Kind::other_state) out = fmt::format("<mrow>{}<mo lspace=\"0\" rspace=\"0\">′</mo></mrow>", out);
  return out;
}

std::string mathml(Expr root) {
  std::unordered_map<std::uint32_t, Math> done;
  for (const Expr e : reachable(std::span(&root, 1))) {
    Math arguments[3];
    for (std::size_t i = 0; i < e.arity(); ++i) arguments[i] = done.at(e.operand(i).id());
    done.emplace(e.id(), node(e, arguments));
  }
  return "<mrow>" + done.at(root.id()).text + "</mrow>";
}

std::string mo(const std::string& op) { return fmt::format("<mo>{}</mo>", op); }

std::string display(const std::string& math, const std::string& text) {
  return fmt::format(
      "<div class=\"formula\" tabindex=\"0\"><math display=\"block\" alttext=\"{}\"><mrow>{}</mrow></math></div>\n",
      escaped(text), math);
}
}  // namespace mckean::report
