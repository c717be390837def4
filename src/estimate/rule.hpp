// Numbers of particles that may depend on the level: "100", "l*L", "T".
#pragma once

#include <string>

namespace mckean {

class Rule {
 public:
  // An expression of l (the level), L (the highest one) and T (the number of observation times). Throws InputError.
  explicit Rule(const std::string& text, const std::string& option);

  // At least `least`; throws InputError where it is not a number of particles.
  std::size_t at(int l, int L, std::size_t T, std::size_t least = 1) const;
  const std::string& text() const { return text_; }

 private:
  double value(double l, double L, double T) const;
  std::string text_, option_;
};
}  // namespace mckean
