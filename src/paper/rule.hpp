// Settings that are formulas: a number of particles "l*L", a chain length "2^p", a weight "2^(-l/4)".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mckean/expr.hpp"

namespace mckean {

class Formula {
 public:
  // An expression of the given names; `name` is that of the setting. Throws SettingError.
  Formula(std::string text, std::string name, const std::vector<std::string>& names);
  double at(const std::vector<double>& values) const;
  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }

 private:
  std::string text_, name_;
  std::shared_ptr<Graph> graph_;  // frozen
  std::vector<Expr> symbols_;     // of the names
  Expr value_;
};

// A number of particles, of l (the level), L (the highest one) and T (the number of observation times).
class Rule {
 public:
  Rule(const std::string& text, const std::string& name) : formula_(text, name, {"l", "L", "T"}) {}

  // At least `least`; throws SettingError where it is not a number of particles.
  std::size_t at(int l, int L, std::size_t T, std::size_t least = 1) const;

 private:
  Formula formula_;
};
}  // namespace mckean
