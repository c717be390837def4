// Whether laws settle, on models of which it is known.
#include "law/settling.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "mckean/model.hpp"

namespace mckean {
namespace {

Model model_of(const std::string& body) { return parse_model("name = \"trial\"\n" + body, "trial.toml"); }

std::optional<Finding> verdict(const Model& model, std::uint64_t seed = 1, double until = 40) {
  std::vector<double> times(static_cast<std::size_t>(until));
  std::iota(times.begin(), times.end(), 1.0);
  const Grid grid(times, 2, 1, Scheme::splitting);
  const System system(model);
  const Settling settling(system, grid, 0, seed);
  std::vector<LawTrack> tracks;
  for (std::size_t k = 0; k < settling.tracks(); ++k) tracks.push_back(settling.track(k, model.start_values()));
  return settling.judge(tracks);
}

double number(const Finding& f, std::string_view name) {
  for (const Finding::Item& i : f.data)
    if (i.name == name) return std::get<double>(i.value);
  return -1;
}

// Two wells, and a pull to the mean that is stronger than the critical one: the mean of 0 is unstable.
Model two_wells(double start, double pull) {
  return model_of(fmt::format(R"TOML(
[state]
x = "normal({}, 0.1)"
[parameters]
theta = {}
[interaction]
m = "x'"
[drift]
x = "x - x^3 + theta*(m - x)"
[diffusion]
x = "0.6"
[observation]
y = "normal(x, 0.3)"
)TOML",
                              start, pull));
}

Model pulled(const std::string& drift) {
  return model_of(R"TOML(
[state]
x = "normal(0, 0.3)"
[parameters]
a = 1
[interaction]
m = "x'"
[drift]
x = ")TOML" + drift +
                  R"TOML("
[diffusion]
x = "0.5"
[observation]
y = "normal(x, 0.3)"
)TOML");
}

TEST(Settling, ABrokenSymmetryIsSeen) {
  const auto found = verdict(two_wells(0, 2));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Finding::Code::law_splits);
  EXPECT_GT(number(*found, "t"), 1);
  EXPECT_LT(number(*found, "t"), 20);
  EXPECT_GT(number(*found, "apart"), 1);
}

TEST(Settling, AWellThatIsChosenByTheStartIsNone) { EXPECT_FALSE(verdict(two_wells(0.8, 2))); }

TEST(Settling, AWeakPullBreaksNothing) { EXPECT_FALSE(verdict(two_wells(0, 0.2))); }

TEST(Settling, AFreeCentreDrifts) {
  const auto found = verdict(pulled("a*(m - x)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Finding::Code::law_drifts);
  EXPECT_EQ(number(*found, "t"), 40);
}

TEST(Settling, WithoutALawThereIsNothingToAsk) {
  const Model model = model_of(R"TOML(
[state]
x = 1
[parameters]
a = 1
[drift]
x = "-a*x"
[diffusion]
x = "0.5"
[observation]
y = "normal(x, 0.3)"
)TOML");
  const Grid grid(std::vector<double>{1, 2}, 2, 1, Scheme::splitting);
  const System system(model);
  EXPECT_FALSE(Settling(system, grid, 0, 1).concerns());
}

// A pull of 10 to a mean that returns at rate 1 inflates what laws differ by elevenfold: no reason for alarm. Over 60
// seeds none at all; at the stated rate of false alarms, below 10^-4 a time and law, one is expected in some hundred.
TEST(Settling, NoFalseAlarms) {
  const Model model = pulled("-a*x + 10*(m - x)");
  for (std::uint64_t seed = 1; seed <= 60; ++seed) EXPECT_FALSE(verdict(model, seed)) << seed;
}
}  // namespace
}  // namespace mckean
