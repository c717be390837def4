// Comparisons by standard errors, which are bounded as well: one that passes when errors explode is no test.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>

namespace mckean::tests {

struct Estimate {
  double value = 0, se = 0;
};

// Mean of values that are independent, and its standard error.
inline Estimate mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

// Within 4 standard errors, which are at most `most`: a third or so above what they are.
inline void expect_close(const Estimate& found, double exact, double most, const std::string& what = "",
                         double errors = 4) {
  EXPECT_LE(found.se, most) << what;
  EXPECT_LT(std::abs(found.value - exact), errors * found.se)
      << what << ": " << found.value << " (se " << found.se << ") for " << exact;
}
}  // namespace mckean::tests
