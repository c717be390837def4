#include "expr/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "expr/special.hpp"

namespace mckean {
namespace {

constexpr std::array kFunctions{
    FunctionInfo{"sin", Op::sin, 1},         FunctionInfo{"cos", Op::cos, 1},
    FunctionInfo{"tan", Op::tan, 1},         FunctionInfo{"asin", Op::asin, 1},
    FunctionInfo{"acos", Op::acos, 1},       FunctionInfo{"atan", Op::atan, 1},
    FunctionInfo{"sinh", Op::sinh, 1},       FunctionInfo{"cosh", Op::cosh, 1},
    FunctionInfo{"tanh", Op::tanh, 1},       FunctionInfo{"exp", Op::exp, 1},
    FunctionInfo{"expm1", Op::expm1, 1},     FunctionInfo{"log", Op::log, 1},
    FunctionInfo{"log1p", Op::log1p, 1},     FunctionInfo{"sqrt", Op::sqrt, 1},
    FunctionInfo{"abs", Op::abs, 1},         FunctionInfo{"sign", Op::sign, 1},
    FunctionInfo{"sigmoid", Op::sigmoid, 1}, FunctionInfo{"softplus", Op::softplus, 1},
    FunctionInfo{"relu", Op::relu, 1},       FunctionInfo{"erf", Op::erf, 1},
    FunctionInfo{"lgamma", Op::lgamma, 1},   FunctionInfo{"polygamma", Op::polygamma, 2},
    FunctionInfo{"min", Op::min, 2},         FunctionInfo{"max", Op::max, 2},
    FunctionInfo{"pow", Op::pow, 2},         FunctionInfo{"if", Op::select, 3},
    FunctionInfo{"mean", Op::mean, 1},       FunctionInfo{"sum", Op::sum, 1},
};

double sigmoid_value(double x) {
  const double e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}
}  // namespace

double apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::pow:
      return std::pow(a, b);
    case Op::min:
      return std::isnan(a) || a < b ? a : b;
    case Op::max:
      return std::isnan(a) || a > b ? a : b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::polygamma:
      return polygamma(a, b);
    case Op::select:
      return a != 0 ? b : c;
    case Op::neg:
      return -a;
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::exp:
      return std::exp(a);
    case Op::expm1:
      return std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::abs:
      return std::abs(a);
    case Op::sign:
      return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0));
    case Op::sigmoid:
      return sigmoid_value(a);
    case Op::softplus:
      return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a)));
    case Op::relu:
      return a <= 0 ? 0 : a;
    case Op::erf:
      return std::erf(a);
    case Op::lgamma:
      return log_gamma(a);
    case Op::number:
    case Op::symbol:
    case Op::mean:
    case Op::sum:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

const FunctionInfo* find_function(std::string_view name) {
  const auto at = std::ranges::find(kFunctions, name, &FunctionInfo::name);
  return at == kFunctions.end() ? nullptr : &*at;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& f : kFunctions) names.emplace_back(f.name);
  return names;
}

std::string_view function_name(Op op) {
  if (op == Op::pow) return {};
  const auto at = std::ranges::find(kFunctions, op, &FunctionInfo::op);
  return at == kFunctions.end() ? std::string_view{} : at->name;
}
}  // namespace mckean
