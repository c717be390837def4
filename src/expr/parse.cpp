#include "expr/parse.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "expr/functions.hpp"
#include "expr/names.hpp"

namespace mckean {
namespace {

// Beyond these a text is no formula; they also bound the parser's recursion.
constexpr std::size_t kLongestText = 20000;
constexpr int kDeepestNesting = 200;

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

class Parser {
 public:
  Parser(std::string_view text, Graph& graph, const Scope& scope) : text_(text), graph_(graph), scope_(scope) {
    if (text.size() > kLongestText)
      fail(0, fmt::format("the expression is longer than {} characters; split it up", kLongestText));
    skip_space();
    if (at_end()) fail(0, "the expression is empty; write a formula, or a number such as 0");
  }

  Expr whole() {
    const Expr e = comparison();
    expect_end();
    return e;
  }

  Call whole_call() {
    const std::size_t start = at_;
    Call call;
    call.position = start;
    call.name = starts_name(peek()) ? name() : "";
    if (call.name.empty() || peek() != '(') fail(start, "a distribution such as normal(x, 1) is expected here");
    call.arguments = arguments();
    expect_end();
    return call;
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw ParseError(position, message);
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  void advance(std::size_t n = 1) {
    at_ += n;
    skip_space();
  }
  bool accept(char c) {
    if (peek() != c) return false;
    advance();
    return true;
  }

  std::string shown() const {  // what stands here, for messages
    if (at_end()) return "the end of the expression";
    const auto byte = static_cast<unsigned char>(peek());
    if (byte >= 0x80) return "a character outside ASCII";
    if (byte < 0x20) return fmt::format("the control character {:#04x}", byte);
    return fmt::format("'{}'", peek());
  }

  // Behind a complete expression stands something that does not continue it.
  [[noreturn]] void refuse_rest() const {
    if (starts_name(peek()) || is_digit(peek()) || peek() == '(' || peek() == '.')
      fail(at_, fmt::format("an operator is missing before {}; a product is written with *", shown()));
    if (peek() == '=') fail(at_, "'=' is no operator; equality is written ==");
    if (peek() == '&' || peek() == '|')
      fail(at_, fmt::format("{} is no operator; write a*b where both conditions must hold, max(a, b) for one of them",
                            shown()));
    fail(at_, fmt::format("{} is not understood here; the operators are + - * / ^ < <= > >= == !=", shown()));
  }

  void expect_end() const {
    if (at_end()) return;
    if (peek() == ')') fail(at_, "there is no '(' for this ')'; remove it");
    if (peek() == ',') fail(at_, "a ',' stands between the arguments of a function only; a decimal needs a point");
    refuse_rest();
  }

  void expect_close(std::size_t open) {
    if (accept(')')) return;
    if (at_end()) fail(open, "this '(' is not closed; add a ')'");
    if (peek() == ',') fail(at_, "a ',' stands between the arguments of a function only; a decimal needs a point");
    refuse_rest();
  }

  Expr comparison() {
    Deeper guard(*this);
    Expr a = sum();
    static constexpr struct {
      std::string_view text;
      Op op;
      bool swapped;
    } kinds[] = {{"<=", Op::less_equal, false}, {">=", Op::less_equal, true}, {"==", Op::equal, false},
                 {"!=", Op::not_equal, false},  {"<", Op::less, false},       {">", Op::less, true}};
    for (const auto& k : kinds) {
      if (!text_.substr(at_).starts_with(k.text)) continue;
      advance(k.text.size());
      const Expr b = sum();
      for (const auto& next : kinds)
        if (text_.substr(at_).starts_with(next.text))
          fail(at_, "comparisons do not chain; write (a < b)*(b < c) for a < b < c");
      return k.swapped ? graph_.make(k.op, b, a) : graph_.make(k.op, a, b);
    }
    return a;
  }

  Expr sum() {
    Expr a = product();
    while (true) {
      if (accept('+'))
        a = a + product();
      else if (accept('-'))
        a = a - product();
      else
        return a;
    }
  }

  Expr product() {
    Expr a = signed_power();
    while (true) {
      if (peek() == '*' && peek(1) == '*') fail(at_, "a power is written with ^, not **");
      if (accept('*'))
        a = a * signed_power();
      else if (accept('/'))
        a = a / signed_power();
      else
        return a;
    }
  }

  Expr signed_power() {
    Deeper guard(*this);
    if (accept('-')) return -signed_power();
    if (accept('+')) return signed_power();
    const Expr base = primary();
    return accept('^') ? pow(base, signed_power()) : base;
  }

  Expr primary() {
    const std::size_t start = at_;
    if (accept('(')) {
      const Expr e = comparison();
      expect_close(start);
      return e;
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (!starts_name(peek())) fail(at_, fmt::format("a number, a name or '(' is expected, not {}", shown()));
    const std::string word = name();
    if (peek() == '(') return call(word, start);
    return variable(word, start);
  }

  Expr number() {
    const std::size_t start = at_;
    double v = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (error != std::errc{} || !std::isfinite(v))
      fail(start, "this number is outside the range of double precision; rescale");
    advance(static_cast<std::size_t>(end - (text_.data() + at_)));
    return graph_.number(v);
  }

  std::string name() {
    const std::size_t start = at_;
    while (!at_end() && continues_name(peek())) ++at_;
    std::string word(text_.substr(start, at_ - start));
    skip_space();
    return word;
  }

  std::vector<Expr> arguments() {
    const std::size_t open = at_;
    advance();
    std::vector<Expr> args;
    if (accept(')')) return args;
    while (true) {
      args.push_back(comparison());
      if (accept(',')) continue;
      expect_close(open);
      return args;
    }
  }

  Expr call(const std::string& word, std::size_t start) {
    const FunctionInfo* f = find_function(word);
    if (!f) {
      if (scope_.names.contains(word))
        fail(start, fmt::format("'{}' is no function; a product is written with *", word));
      fail(start, fmt::format("there is no function '{}'; {}", word, suggestion(word, function_names())));
    }
    const std::vector<Expr> args = arguments();
    if (args.size() != f->arguments)
      fail(start, fmt::format("{} takes {} argument{}, not {}", word, f->arguments, f->arguments == 1 ? "" : "s",
                              args.size()));
    if (f->op == Op::polygamma && !(args[0].is_number() && args[0].value() >= 0 && args[0].value() <= 20 &&
                                    args[0].value() == std::trunc(args[0].value())))
      fail(start, "the order of polygamma must be a whole number from 0 to 20");
    return graph_.make(f->op, args[0], args.size() > 1 ? args[1] : Expr{}, args.size() > 2 ? args[2] : Expr{});
  }

  Expr variable(const std::string& word, std::size_t start) {
    const bool prime = accept('\'');
    if (prime && !scope_.no_primes.empty())
      fail(start, fmt::format("{}' does not belong here: {}", word, scope_.no_primes));
    if (!prime && word == "pi" && !scope_.names.contains(word)) return graph_.number(std::numbers::pi);
    const auto& table = prime ? scope_.primed : scope_.names;
    const auto at = table.find(word);
    if (at == table.end()) unknown(word, prime, start);
    return peek() == '[' ? component(word, at->second) : at->second.whole;
  }

  [[noreturn]] void unknown(const std::string& word, bool prime, std::size_t start) const {
    if (prime && scope_.names.contains(word))
      fail(start, fmt::format("only a state has a prime, and '{}' is none", word));
    if (const auto at = scope_.barred.find(word); at != scope_.barred.end())
      fail(start, fmt::format("'{}' does not belong here: {}", word, at->second));
    if (find_function(word)) fail(start, fmt::format("the function {} needs its arguments in parentheses", word));
    std::vector<std::string> known;
    for (const auto& [n, entry] : prime ? scope_.primed : scope_.names) known.push_back(n);
    if (!prime) known.emplace_back("pi");
    fail(start, fmt::format("unknown name '{}{}'; {}", word, prime ? "'" : "", suggestion(word, known)));
  }

  Expr component(const std::string& word, const Scope::Entry& entry) {
    const std::size_t open = at_;
    advance();
    int index = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), index);
    if (error != std::errc{})
      fail(at_, fmt::format("the component of {} must be a whole number, as in {}[1]", word, word));
    advance(static_cast<std::size_t>(end - (text_.data() + at_)));
    if (!accept(']')) fail(at_, fmt::format("']' is expected, not {}", shown()));
    if (entry.components.empty()) fail(open, fmt::format("'{}' is no vector; write it without [ ]", word));
    const auto size = static_cast<int>(entry.components.size());
    if (index < 1 || index > size) fail(open, fmt::format("'{}' has components 1 to {}, not {}", word, size, index));
    return entry.components[static_cast<std::size_t>(index - 1)];
  }

  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > kDeepestNesting)
        parser.fail(parser.at_, "the expression is nested too deeply; simplify it");
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  std::string_view text_;
  Graph& graph_;
  const Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};
}  // namespace

bool is_name(std::string_view s) {
  if (s.empty() || !starts_name(s[0])) return false;
  for (const char c : s)
    if (!continues_name(c)) return false;
  return true;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string meant = nearest(name, known);
  if (!meant.empty()) return fmt::format("did you mean '{}'?", meant);
  return fmt::format("known here {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
}

Expr parse_expression(std::string_view text, Graph& graph, const Scope& scope) {
  return Parser(text, graph, scope).whole();
}

Call parse_call(std::string_view text, Graph& graph, const Scope& scope) {
  return Parser(text, graph, scope).whole_call();
}
}  // namespace mckean
