// Text → expression.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mckean/error.hpp"
#include "mckean/expr.hpp"

namespace mckean {

// The message tells the problem; `position` is the byte of the text at which a caret belongs.
struct ParseError : InputError {
  ParseError(std::size_t at, const std::string& message) : InputError(message), position(at) {}
  std::size_t position;
};

// The names that a text may use. A vector has its components beside the whole.
struct Scope {
  struct Entry {
    Expr whole;
    std::vector<Expr> components;
  };
  std::map<std::string, Entry, std::less<>> names;
  std::map<std::string, Entry, std::less<>> primed;        // x', without the prime
  std::map<std::string, std::string, std::less<>> barred;  // known names that do not belong here, and why
  std::string no_primes;                                   // why x' does not belong here; empty: it does
};

// Grammar, loosest first: comparisons; + -; * /; unary minus; ^ (to the right). Calls f(a, b), names x, x',
// x[2], numbers, parentheses, pi and the time t where the scope has it.
Expr parse_expression(std::string_view text, Graph&, const Scope&);

struct Call {
  std::string name;
  std::size_t position = 0;  // of the name
  std::vector<Expr> arguments;
};

// A text that is one call of a name that need not be a function of the language: normal(x, tau).
Call parse_call(std::string_view text, Graph&, const Scope&);

bool is_name(std::string_view);  // [A-Za-z_][A-Za-z0-9_]*

// What to do about an unknown name: "did you mean …?" where a known one is near, else the known ones.
std::string suggestion(const std::string& name, const std::vector<std::string>& known);
}  // namespace mckean
