// Expressions as MathML Core, which browsers show without help.
#pragma once

#include <string>

#include "mckean/expr.hpp"

namespace mckean::report {

std::string mathml(Expr);
std::string mathml(const Symbol&);
std::string mathml_name(const std::string& name);  // theta: θ; sigma_x: σ with index x; rate: upright, since a word
std::string mathml_number(double);

std::string in_parentheses(const std::string& math);
std::string mo(const std::string& op);  // given as MathML
// A formula in a line of its own, which scrolls within itself where it is too long; `text` is it in words.
std::string display(const std::string& math, const std::string& text);
}  // namespace mckean::report
