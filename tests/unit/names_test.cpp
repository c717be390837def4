#include "expr/names.hpp"

#include <gtest/gtest.h>

namespace mckean {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> known;
  std::string expected;
};

TEST(Names, Nearest) {
  const std::vector<Case> cases{
      {"thta", {"sigma", "theta"}, "theta"},    // an insertion
      {"thetaa", {"sigma", "theta"}, "theta"},  // a deletion
      {"thwta", {"sigma", "theta"}, "theta"},   // a change
      {"htea", {"theta", "tau"}, ""},           // two edits are too many for four letters
      {"hteta", {"sigma", "theta"}, "theta"},   // a swap counts once
      {"interatcoin", {"interaction"}, "interaction"},
      {"THETA", {"sigma", "theta"}, "theta"},  // case is ignored
      {"Theta", {"THETA", "theta"}, "theta"},  // but decides a tie
      {"y", {"y1", "y2"}, "y1"},               // then the first
      {"y", {"x", "t"}, ""},                   // nothing in common
      {"t", {"T", "y"}, "T"},
      {"ab", {"a", "ba"}, "a"},
      {"sigma", {"tau", "theta"}, ""},
      {"constant", {"constants"}, "constants"},
      {"\u03b8", {"\u03b7", "\u03c3"}, ""},  // letters, not bytes
      {"\u03b8x", {"\u03b7x"}, "\u03b7x"},
      {"\xFF", {"\xFE"}, ""},
      {"", {"", "a"}, ""},
      {"theta", {}, ""},
      {"theta", {"theta"}, "theta"},
  };
  for (const Case& c : cases) EXPECT_EQ(nearest(c.name, c.known), c.expected) << c.name;
}
}  // namespace
}  // namespace mckean
