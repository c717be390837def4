#include "report/mathml.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace mckean::report {
namespace {

// The formula as it is read: without tags; fractions, powers and indices are marked.
std::string read(std::string math) {
  const auto replace = [&math](const std::string& what, const std::string& by) {
    math = std::regex_replace(math, std::regex(what), by);
  };
  replace("<mfrac><mrow>(.*?)</mrow><mrow>(.*?)</mrow></mfrac>", "{$1 over $2}");
  replace("<mo[^>]*>&#x2061;</mo>", ""), replace("<mo[^>]*>&#x2062;</mo>", " ");
  replace("<msup>", "^("), replace("</msup>", ")");
  replace("<msub>", "_("), replace("</msub>", ")");
  replace("<msqrt>", "root("), replace("</msqrt>", ")");
  replace("<[^>]*>", "");
  return math;
}

class MathMl : public testing::Test {
 private:
  Graph g_;

 protected:
  Expr a = g_.parameter("a"), b = g_.parameter("b"), x = g_.state("x"), theta = g_.parameter("theta");
};

TEST_F(MathMl, Parentheses) {
  EXPECT_EQ(read(mathml(a * (b + x))), "a (b+x)");
  EXPECT_EQ(read(mathml(a * b + x)), "x+a b");
  EXPECT_EQ(read(mathml(a - (b - x))), "a−(b−x)");
  EXPECT_EQ(read(mathml(a - b - x)), "a−b−x");
  EXPECT_EQ(read(mathml((a + b) / (a - b))), "{a+b over a−b}");
  EXPECT_EQ(read(mathml(pow(a + b, 3))), "^((a+b)3)");
  EXPECT_EQ(read(mathml(pow(sin(a), 3))), "^(sin(a)3)");
}

TEST_F(MathMl, NothingBeginsWithAMinusBehindAnOperator) {
  EXPECT_EQ(read(mathml(pow(a, -2.5))), "^(a−2.5)");
  for (const Expr e : {a + -2.0 * b, a * (-b), a - (-b) * x, pow(-a, b)}) {
    const std::string text = read(mathml(e));
    EXPECT_EQ(text.find("+−"), std::string::npos) << text;
    EXPECT_EQ(text.find(" −"), std::string::npos) << text;
    EXPECT_EQ(text.find("−−"), std::string::npos) << text;
  }
}

TEST_F(MathMl, NamesAndNumbers) {
  EXPECT_EQ(read(mathml(theta)), "θ");
  EXPECT_EQ(read(mathml_name("sigma_x")), "_(σx)");
  EXPECT_EQ(read(mathml_name("rate")), "rate");
  EXPECT_EQ(read(mathml_name("_")), "_");
  EXPECT_EQ(read(mathml(Symbol{Kind::other_state, "x", 2})), "_(x3)′");
  EXPECT_EQ(read(mathml_number(-0.25)), "−0.25");
  EXPECT_EQ(read(mathml_number(1.5e-9)), "1.5·^(10-9)");
}

TEST_F(MathMl, Functions) {
  EXPECT_EQ(read(mathml(sqrt(a + b))), "root(a+b)");
  EXPECT_EQ(read(mathml(exp(a * b))), "^(ea b)");
  EXPECT_EQ(read(mathml(sin(x - other(x)))), "sin(x−x′)");
  EXPECT_EQ(read(mathml(abs(a))), "|a|");
  EXPECT_EQ(read(mathml(select(less(a, b), a, b))), "{aif a&lt;bbotherwise");
  EXPECT_EQ(read(mathml(max(a, b))), "max(a,b)");
}

// Tags are closed in the order in which they were opened: the browser reads what was meant.
TEST_F(MathMl, IsWellFormed) {
  const Expr e = select(less(a, pow(b, -2.0)), -(a / (b + exp(x))) * 2.0, sqrt(abs(x)) - lgamma(a) * log1p(x));
  const std::string text = mathml(e);
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z]+)[^>]*>");
  for (std::sregex_iterator at(text.begin(), text.end(), tag), end; at != end; ++at) {
    if ((*at)[1].length() == 0) {
      open.push_back((*at)[2]);
    } else {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*at)[2]);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}
}  // namespace
}  // namespace mckean::report
