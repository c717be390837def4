// Findings in words: every code has a name and a wording of its own, and none names an option of the command line.
#include "mckean/finding.hpp"

#include <gtest/gtest.h>

#include <set>

namespace mckean {
namespace {

using Code = Finding::Code;

// With everything that any wording asks for.
Finding with_all_data(Code code) {
  Finding f{code, {{"values", 1}, {"parameters", 2}}};
  for (const char* number :
       {"shift",   "error",  "left",    "level",       "share",  "sd",    "particles", "count",    "p",
        "percent", "search", "filters", "bound",       "loglik", "best",  "value",     "relative", "start",
        "t",       "mean",   "ratio",   "correlation", "lower",  "upper", "apart"})
    f.data.emplace_back(number, 1.5);
  for (const char* text : {"parameter", "problem", "place", "what", "wanted", "observation", "side", "direction",
                           "where", "column", "component"})
    f.data.emplace_back(text, "words");
  return f;
}

TEST(Finding, EveryCodeHasAWordingOfItsOwn) {
  std::set<std::string_view> names;
  const int last = static_cast<int>(Code::predictions_unchecked);
  for (int c = 0; c <= last; ++c) {
    const auto code = static_cast<Code>(c);
    EXPECT_TRUE(names.insert(code_name(code)).second) << code_name(code);
    const std::string text = to_text(with_all_data(code));
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find("--"), std::string::npos) << text;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
}

TEST(Finding, SaysOneAndMany) {
  EXPECT_EQ(to_text({Code::few_data, {{"values", 1}, {"parameters", 1}}}),
            "few data: 1 observed value for 1 parameter; standard errors and intervals assume many");
  EXPECT_EQ(to_text({Code::few_data, {{"values", 3}, {"parameters", 2}}}),
            "few data: 3 observed values for 2 parameters; standard errors and intervals assume many");
}

TEST(Finding, TheOtherEndIsNamedWhereItIsKnown) {
  Finding f{Code::at_bound, {{"parameter", "s"}, {"bound", 0.0}}};
  EXPECT_EQ(to_text(f), "s: at its bound 0");
  f.data.emplace_back("side", "below"), f.data.emplace_back("end", 0.12345);
  EXPECT_EQ(to_text(f), "s: at its bound 0, below 0.1235 with 95 % confidence");
}

TEST(Finding, LargeCountsAreWrittenOut) {
  EXPECT_EQ(to_text({Code::reprojections, {{"count", 1234567}}}),
            "1234567 times a chain went too far and was returned to the start");
}
}  // namespace
}  // namespace mckean
