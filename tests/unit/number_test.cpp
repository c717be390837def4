#include "model/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace mckean {
namespace {

TEST(Number, IsReadExactly) {
  using Limits = std::numeric_limits<double>;
  for (const double x : {0.0, 0.1, 1.0 / 3, Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min()}) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.17g", x);
    const Number number = parse_number(digits);
    EXPECT_EQ(number.problem, "") << digits;
    EXPECT_EQ(number.value, x) << digits;
  }
}

TEST(Number, MayBeSpeltFreely) {
  for (const char* text : {"1.5", "+1.5", "1.50", "15e-1", "0.15E+1", "001.5"}) {
    const Number number = parse_number(text);
    EXPECT_EQ(number.problem, "") << text;
    EXPECT_EQ(number.value, 1.5) << text;
  }
  EXPECT_EQ(parse_number(".5").value, 0.5);
  EXPECT_EQ(parse_number("-5.").value, -5);
  EXPECT_TRUE(std::signbit(parse_number("-0").value));
}

TEST(Number, IsRefusedUnlessTheWholeTextIsOne) {
  for (const char* text : {"",    "abc", "1.2.3", "0x10",  "1e",    "e5",  "--1", "+-1",     "++1",  "-+1",
                           "+",   "-",   ".",     "1 2",   " 1",    "1f",  "1_0", "nan",     "-nan", "nan(1)",
                           "+NA", "N/A", "null",  "1e5.0", "1,2,3", "a,b", "1;5", "infinite"})
    EXPECT_EQ(parse_number(text).problem, "'" + std::string(text) + "' is not a number") << text;
}

TEST(Number, IsRefusedWithACauseWhereThereIsOne) {
  for (const char* text : {"inf", "-Inf", "+INFINITY"})
    EXPECT_EQ(parse_number(text).problem, "'" + std::string(text) + "' is infinite");
  for (const char* text : {"1e309", "-1e309", "+2e308", "1e99999999999999999999", "1e-400"})
    EXPECT_EQ(parse_number(text).problem, "'" + std::string(text) + "' is beyond the range of double precision");
  EXPECT_EQ(parse_number("-1,5").problem, "'-1,5' is not a number: decimals need a point, not a comma");
  EXPECT_EQ(parse_number("\u22121").problem, "'\u22121' is not a number: it holds the character U+2212");
  EXPECT_EQ(parse_number("\u00a01").problem, "'<U+00A0>1' is not a number: it holds the character U+00A0");
}

TEST(Number, MayBeMissing) {
  for (const char* text : {"", "NA", "na", "Na", "nan", "NaN", "NAN"}) EXPECT_TRUE(is_missing(text)) << text;
  for (const char* text : {" ", "N", "NA ", "nana", "-nan", "null", "0"}) EXPECT_FALSE(is_missing(text)) << text;
}
}  // namespace
}  // namespace mckean
