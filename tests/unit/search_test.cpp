// The search on functions whose maxima are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "infer/search/explore.hpp"
#include "infer/search/intervals.hpp"
#include "infer/search/rivals.hpp"
#include "unit/synthetic_engine.hpp"

namespace mckean::search {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

// −½ (θ − c)ᵀ A (θ − c) − 100 with a correlated A: standard errors of 0.1 for each given the others.
Synthetic parabola(int n, std::uint64_t seed = 1) {
  Synthetic s;
  s.seed = seed;
  for (int i = 0; i < n; ++i) s.unknowns.push_back({"p" + std::to_string(i + 1), i % 2 == 0 ? 2.0 : 0.5});
  s.value = [n](std::span<const double> theta, const Effort&) -> std::optional<double> {
    double sum = 0, before = 0;
    for (int i = 0; i < n; ++i) {
      const double u = (theta[static_cast<std::size_t>(i)] - 1) / 0.1;
      sum += u * u + 0.8 * u * before;
      before = u;
    }
    return -100 - sum / 2;
  };
  return s;
}

bool mentions(const Found& f, const std::string& words) {
  return std::ranges::any_of(f.findings, [&](const Finding& w) { return to_text(w).find(words) != std::string::npos; });
}

// The standard error of the first parameter of the parabola: the first entry of the inverse of a tridiagonal matrix.
double first_error(int n) {
  double d = 1;
  for (int i = 1; i < n; ++i) d = 1 - 0.16 / d;
  return 0.1 / std::sqrt(d);
}

TEST(Search, FindsParabolasInOneToSixDimensions) {
  for (int n = 1; n <= 6; ++n) {
    double z = 0, squares = 0, ratio = 0;
    constexpr int kSeeds = 24;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Found f = parabola(n, seed).run();
      EXPECT_TRUE(f.converged) << n;
      EXPECT_TRUE(f.findings.empty()) << n << ": " << (f.findings.empty() ? "" : to_text(f.findings[0]));
      for (std::size_t i = 0; i < f.theta.size(); ++i) {
        ASSERT_TRUE(f.intervals[i].std_error);
        EXPECT_LE(f.mc_se[i], 0.12 * *f.intervals[i].std_error);
        const double one = (f.theta[i] - 1) / f.mc_se[i];
        z += one, squares += one * one;
      }
      ratio += *f.intervals[0].std_error / first_error(n) / kSeeds;
      EXPECT_NEAR(f.loglik, -100, 0.5) << n;
    }
    // z-scores of the estimates: false alarms 1 in 10 000 if they were independent; their errors are bounded above.
    const double count = n * kSeeds;
    EXPECT_LT(std::abs(z) / std::sqrt(count), 4) << n;
    EXPECT_LT(squares / count, 1 + 4 * std::sqrt(2 / count)) << n;
    EXPECT_NEAR(ratio, 1, 0.08) << n;
  }
}

TEST(Search, SkewedLikelihoodHasItsMaximumWhereItIs) {
  // That of the rate of 30 exponential times with mean 1: n log θ − n θ, standard error 0.18, third derivative 0.37.
  double z = 0, error = 0;
  constexpr int kSeeds = 12;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Synthetic s;
    s.seed = seed;
    s.unknowns = {{"rate", 2.5, 0.0}};
    s.value = [](std::span<const double> theta, const Effort&) -> std::optional<double> {
      return 30 * std::log(theta[0]) - 30 * theta[0];
    };
    const Found f = s.run();
    EXPECT_TRUE(f.converged);
    EXPECT_LE(f.mc_se[0], 0.025);
    z += (f.theta[0] - 1) / f.mc_se[0] / kSeeds;
    error += *f.intervals[0].std_error / kSeeds;
  }
  EXPECT_LT(std::abs(z), 1.2);  // standard error 0.29: 4 of them
  EXPECT_NEAR(error, 1 / std::sqrt(30), 0.15 / std::sqrt(30));
}

TEST(Search, EndsOfASkewedLikelihoodAreWhereItHasFallen) {
  // 3 log θ − 3 θ falls by 1.92 at 0.2556 and 2.605; the parabola says −0.13 and 2.13.
  Synthetic s;
  s.unknowns = {{"rate", 2.5, 0.0}, {"mu", 0.5}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double m = (t[1] - 1 - 0.3 * t[0]) / 0.2;  // follows the rate
    return 3 * std::log(t[0]) - 3 * t[0] - m * m / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_NEAR(*f.intervals[0].lower, 0.2556, 0.06);
  EXPECT_NEAR(*f.intervals[0].upper, 2.605, 0.3);
  EXPECT_NEAR(*f.intervals[0].std_error, 1 / std::sqrt(3), 0.2);
}

// Rises from −∞ to a maximum at 1, and falls by 0.5 from there to a plateau.
Synthetic plateau() {
  Synthetic s;
  s.unknowns = {{"beta", 0.5, 0.0}, {"mu", 0.5}};
  s.noise = 40;
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double b = 1 - 1 / t[0], m = (t[1] - 1) / 0.2;
    return -0.5 * (b > 0 ? b * b : 9 * b * b) - m * m / 2;
  };
  return s;
}

TEST(Search, AnEndThatTheLikelihoodDoesNotHaveIsNone) {
  const Found f = plateau().run();
  EXPECT_TRUE(f.converged);
  // 4.5 (1 − 1/θ)² = 1.92
  ASSERT_TRUE(f.intervals[0].lower);
  EXPECT_NEAR(*f.intervals[0].lower, 0.605, 0.06);
  EXPECT_FALSE(f.intervals[0].upper);
  EXPECT_FALSE(f.intervals[0].std_error);
  EXPECT_TRUE(std::isnan(f.mc_se[0]));
  EXPECT_TRUE(mentions(f, "not determined from above: the profile likelihood of 'beta'"));
  EXPECT_NEAR(*f.intervals[1].std_error, 0.2, 0.02);
}

TEST(Search, AnEndThatMovesOutWithFinerStepsIsNone) {
  Synthetic s = plateau();
  s.value = [whole = s.value](std::span<const double> t, const Effort& e) -> std::optional<double> {
    // Euler's limit of stability
    return t[0] > std::exp2(e.level) ? *whole(t, e) - 1e4 * (t[0] - std::exp2(e.level)) : whole(t, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_FALSE(f.intervals[0].upper);
}

// Beyond the limit of a level there is a cliff, or nothing that could be computed with. It may hide the maximum, or lie
// near where a parabola would end the interval; and steps half as long may have theirs before the end that was found.
TEST(Search, ACliffOfStepsThatAreTooLongIsNoEnd) {
  int converged = 0;
  for (const double at_level_7 : {3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0, 20.0}) {
    for (const double depth : {1e3, 1e52, 1e300}) {
      Synthetic s = plateau();
      s.value = [at_level_7, depth, whole = s.value](std::span<const double> t,
                                                     const Effort& e) -> std::optional<double> {
        const double limit = at_level_7 * std::exp2(e.level - 7);
        return t[0] > limit ? *whole(t, e) - depth * (t[0] / limit) : whole(t, e);
      };
      const Found f = s.run();
      if (!f.converged) continue;
      ++converged;
      EXPECT_FALSE(f.intervals[0].upper) << at_level_7 << ' ' << depth;
      EXPECT_NEAR(f.theta[0], 1, 0.3) << at_level_7 << ' ' << depth;
    }
  }
  EXPECT_GE(converged, 24);  // the others say that they did not
}

// No particle explains the data beyond 6, whatever the steps: before, the likelihood is flat.
TEST(Search, ACliffThatAllStepsHaveIsAnEnd) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Synthetic s = plateau();
    s.seed = seed;
    s.value = [whole = s.value](std::span<const double> t, const Effort& e) -> std::optional<double> {
      return t[0] > 6 ? *whole(t, e) - 100 * (t[0] - 6) : whole(t, e);
    };
    const Found f = s.run();
    EXPECT_TRUE(f.converged);
    ASSERT_TRUE(f.intervals[0].upper) << seed;
    EXPECT_NEAR(*f.intervals[0].upper, 6, 0.7) << seed;
  }
}

TEST(Search, ValuesOfCoarserStepsThatAreFarOffDoNoHarm) {
  Synthetic s = parabola(2);
  s.value = [whole = s.value](std::span<const double> t, const Effort& e) -> std::optional<double> {
    const double moved[] = {t[0] - 0.1 * std::exp2(5 - e.level), t[1]};
    return e.level < 6 && t[0] > 1.25 ? -1e60 : *whole(moved, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged) << (f.findings.empty() ? "" : to_text(f.findings[0]));
  EXPECT_NEAR(f.theta[0], 1, 0.08);
}

TEST(Search, FollowsACurvedRidge) {
  Synthetic s;
  s.unknowns = {{"a", 3.0}, {"b", 0.3}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double across = (t[1] - t[0] * t[0]) / 0.05, along = (t[0] - 1) / 0.2;
    return -(across * across + along * along) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_NEAR(f.theta[0], 1, std::max(4 * f.mc_se[0], 0.05));
  EXPECT_NEAR(f.theta[1], 1, std::max(4 * f.mc_se[1], 0.1));
  EXPECT_LE(f.mc_se[0], 0.016);
  EXPECT_LE(f.mc_se[1], 0.031);
}

// K² in place of a parabola that has its maximum beyond the bound.
Synthetic at_bound() {
  Synthetic s;
  s.unknowns = {{"K", 0.4, 0.0}, {"mu", 2.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double k = (t[0] + 0.05) / 0.1, m = (t[1] - 1) / 0.1;
    return -(k * k + m * m) / 2;
  };
  return s;
}

TEST(Search, MaximumAtABoundHasAOneSidedInterval) {
  const Found f = at_bound().run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.theta[0], 0);
  EXPECT_EQ(f.intervals[0].at_bound, AtBound::lower);
  EXPECT_FALSE(f.intervals[0].std_error);
  EXPECT_EQ(f.intervals[0].lower, 0);
  // (K + 0.05)² − 0.05² = 2.71 · 0.1²
  EXPECT_NEAR(*f.intervals[0].upper, std::sqrt(0.027055 + 0.0025) - 0.05, 0.015);
  EXPECT_TRUE(mentions(f, "at its bound 0, below"));
  EXPECT_NEAR(f.theta[1], 1, 4 * f.mc_se[1]);
  EXPECT_LE(f.mc_se[1], 0.0095);
  EXPECT_NEAR(*f.intervals[1].std_error, 0.1, 0.01);
}

TEST(Search, IntervalOfAParameterNearItsBoundEndsThere) {
  Synthetic s = at_bound();
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double k = (t[0] - 0.1) / 0.1, m = (t[1] - 1) / 0.1;
    return -(k * k + m * m) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.intervals[0].at_bound, AtBound::none);
  EXPECT_EQ(f.intervals[0].lower, 0);
  EXPECT_NEAR(*f.intervals[0].upper, 0.1 + 0.196, 0.04);
}

TEST(Search, FlatDirectionHasNoStandardError) {
  Synthetic s;
  s.unknowns = {{"a", 2.0}, {"b", 1.0}, {"c", 3.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double sum = (t[0] + t[1] - 2) / 0.1, c = (t[2] - 1) / 0.2;
    return -(sum * sum + c * c) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(mentions(f, "not determined"));
  for (const std::size_t i : {0, 1}) {
    EXPECT_FALSE(f.intervals[i].std_error);
    EXPECT_FALSE(f.intervals[i].lower);
    EXPECT_FALSE(f.intervals[i].upper);
  }
  ASSERT_TRUE(f.intervals[2].std_error);
  EXPECT_NEAR(*f.intervals[2].std_error, 0.2, 0.03);
  EXPECT_NEAR(f.theta[2], 1, 4 * f.mc_se[2]);
  EXPECT_LE(f.mc_se[2], 0.0165);
  EXPECT_EQ(std::ranges::count(f.findings, Finding::Code::flat_direction, &Finding::code), 1);
}

TEST(Search, AFlatParameterDoesNotChangeTheErrorsOfOthers) {
  double error = 0;
  constexpr int kSeeds = 6;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Synthetic s;
    s.seed = seed;
    s.unknowns = {{"a", 1.2}, {"m", 0.4}, {"c", 0.3}};
    s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
      const double a = (t[0] - 0.5) / 0.1, m = (t[1] - 1) / 0.1;
      return -(a * a + m * m) / 2;
    };
    const Found f = s.run();
    EXPECT_TRUE(mentions(f, "not determined"));
    EXPECT_FALSE(f.intervals[2].std_error);
    ASSERT_TRUE(f.intervals[0].std_error && f.intervals[1].std_error);
    error += (*f.intervals[0].std_error + *f.intervals[1].std_error) / 2 / kSeeds;
    EXPECT_NEAR(*f.intervals[0].std_error, 0.1, 0.02);
  }
  EXPECT_NEAR(error, 0.1, 0.01);
}

TEST(Search, AFlatParameterHasTheEndThatThereIs) {
  Synthetic s;
  s.unknowns = {{"a", 2.0}, {"c", 3.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double a = t[0] < -4 ? t[0] + 4 : 0, c = (t[1] - 1) / 0.2;
    return -(a * a + c * c) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(mentions(f, "not determined"));
  EXPECT_FALSE(f.intervals[0].std_error);
  EXPECT_FALSE(f.intervals[0].upper);
  ASSERT_TRUE(f.intervals[0].lower);
  EXPECT_NEAR(*f.intervals[0].lower, -5.96, 0.6);
  EXPECT_NEAR(*f.intervals[1].std_error, 0.2, 0.03);
}

// Two maxima, at 1 and at −1, the second lower by `below`.
Synthetic two(double below) {
  Synthetic s;
  s.options.starts = 4;
  s.unknowns = {{"a", 0.7, -3.0, 3.0}};
  s.value = [below](std::span<const double> t, const Effort&) -> std::optional<double> {
    const auto peak = [&](double at) { return -std::pow((t[0] - at) / 0.1, 2) / 2; };
    return std::max(peak(1), peak(-1) - below);
  };
  return s;
}

TEST(Search, ReportsBothOfTwoComparableMaxima) {
  const Found f = two(1).run();
  EXPECT_NEAR(f.theta[0], 1, 0.1);
  ASSERT_EQ(f.maxima.size(), 2);
  EXPECT_NEAR(f.maxima[1].theta[0], -1, 0.1);
  EXPECT_NEAR(f.maxima[0].loglik - f.maxima[1].loglik, 1, 0.7);
  EXPECT_TRUE(mentions(f, "maxima of comparable likelihood"));
}

TEST(Search, TakesTheBetterOfTwoMaxima) {
  Synthetic s = two(30);
  s.unknowns[0].start = -0.7;
  const Found f = s.run();
  EXPECT_NEAR(f.theta[0], 1, 0.1);
  EXPECT_EQ(f.maxima.size(), 1);
}

// a occurs as a square, b as its absolute value with a sign that c has as well.
TEST(Search, ReportsMaximaThatDifferBySigns) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Synthetic s;
    s.seed = seed;
    s.unknowns = {{"a", 1.3}, {"b", 0.7}, {"c", 0.4}};
    s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
      const double a = (t[0] * t[0] - 1) / 0.3, b = (t[1] * t[2] - 0.5) / 0.05, c = (t[1] * t[1] - 0.8) / 0.2;
      return -(a * a + b * b + c * c) / 2;
    };
    const Found f = s.run();
    EXPECT_TRUE(f.converged);
    ASSERT_EQ(f.maxima.size(), 3) << seed;  // itself, −a, and −b with −c; all three signs are not tried
    EXPECT_NEAR(f.maxima[1].theta[0], -f.theta[0], 0.15);
    EXPECT_NEAR(f.maxima[2].theta[1], -f.theta[1], 0.15);
    EXPECT_NEAR(f.maxima[2].theta[2], -f.theta[2], 0.15);
  }
}

TEST(Search, AWayWithoutAValleyLeadsToNoOtherMaximum) {
  Synthetic s = parabola(2);
  SerialRunner runner;
  FitObserver observer;
  Evaluations evaluate(s, runner, observer, 1);
  const Box box(s.unknowns);
  const auto z = [&](double a, double b) { return box.from(std::vector{a, b}); };
  const Effort effort{.level = 4, .particles = 512};
  const auto height = [&](double a, double b) { return *s.value(std::vector{a, b}, effort); };
  EXPECT_FALSE(valley_between(evaluate, box, z(1.2, 1.2), z(1, 1), effort, height(1.2, 1.2), "one side"));
  EXPECT_FALSE(valley_between(evaluate, box, z(1.2, 1), z(0.8, 1), effort, height(1.2, 1), "across the top"));
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    return -100 - 50 * std::pow(t[0] * t[0] - 1, 2) - t[1] * t[1];
  };
  EXPECT_TRUE(valley_between(evaluate, box, z(1, 0), z(-1, 0), effort, -100, "two wells"));
}

TEST(Search, FailuresInHalfOfTheSpaceDoNoHarm) {
  Synthetic s = parabola(2);
  const auto whole = s.value;
  s.value = [whole](std::span<const double> t, const Effort& e) -> std::optional<double> {
    return t[0] < 0.95 ? std::nullopt : whole(t, e);
  };
  const Found f = s.run();
  EXPECT_NEAR(f.theta[0], 1, 0.1);
  EXPECT_NEAR(f.theta[1], 1, 0.1);
}

TEST(Search, AStartWithoutLikelihoodIsLeftForOthers) {
  Synthetic s = parabola(2);
  const auto whole = s.value;
  s.value = [whole](std::span<const double> t, const Effort& e) -> std::optional<double> {
    return std::abs(t[0] - 2) < 0.02 && std::abs(t[1] - 0.5) < 0.02 ? std::nullopt : whole(t, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_NEAR(f.theta[0], 1, 0.1);
}

TEST(Search, NoLikelihoodAnywhereIsAnError) {
  Synthetic s = parabola(1);
  s.value = [](std::span<const double>, const Effort&) -> std::optional<double> { return std::nullopt; };
  EXPECT_THROW(s.run(), NumericalError);
}

TEST(Search, CoarseStepsThatExplodeAreLeftBehind) {
  Synthetic s = parabola(2);
  const auto whole = s.value;
  s.value = [whole](std::span<const double> t, const Effort& e) -> std::optional<double> {
    return e.level < 6 ? std::nullopt : whole(t, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.effort.level, 6);
  EXPECT_NEAR(f.theta[0], 1, 0.1);
}

// However many levels it takes, where steps that are too long are the reason.
TEST(Search, StepsThatExplodeForLongAreLeftBehind) {
  Synthetic s = parabola(2);
  s.options.levels = {1, 8};
  s.explodes = [](auto, const Effort& e) { return e.level < 7; };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.effort.level, 7);
  EXPECT_NEAR(f.theta[0], 1, 0.1);
}

// Euler's steps move the maximum by `shift` standard errors × 2^(4 − level).
Synthetic biased(double shift) {
  Synthetic s = parabola(2);
  const auto whole = s.value;
  s.value = [whole, shift](std::span<const double> t, const Effort& e) {
    const double moved[] = {t[0] - 0.1 * shift * std::exp2(4 - e.level), t[1]};
    return whole(moved, e);
  };
  return s;
}

// A large law has particles so far out that the steps which serve a small one explode.
TEST(Search, StepsThatExplodeWithALargerLawAreLeftBehind) {
  Synthetic s = parabola(2);
  s.kind = Engine::LawKind::moments;
  s.explodes = [](auto, const Effort& e) { return e.level < 6 && e.law_particles > 1024; };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_TRUE(f.findings.empty());
  EXPECT_GE(f.effort.level, 6);
  s.options.levels.second = 5;  // none are finer
  const Found none = s.run();
  EXPECT_FALSE(none.converged);
  EXPECT_TRUE(mentions(none, "particles explode near the maximum"));
}

// Steps that explode at a start, but not around it, are no reason for finer ones.
TEST(Search, AStartThatExplodesIsLeftByTheSameSteps) {
  Synthetic s = parabola(2);
  s.explodes = [](std::span<const double> theta, const Effort& e) { return e.level < 8 && theta[0] > 1.95; };
  s.options.starts = 1;
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.effort.level, 4);
}

// Of two starts one needs steps that cost 16 times as much, and leads nowhere: it is given up.
TEST(Search, AStartThatCostsTooMuchIsGivenUp) {
  Synthetic s = parabola(2);
  s.unknowns = {{"p1", 1.1}, {"p2", 1.1}};
  std::size_t dear = 0;
  const auto near = [](std::span<const double> theta) {
    return std::abs(theta[0] - 1) < 0.25 && std::abs(theta[1] - 1) < 0.25;
  };
  s.explodes = [&](std::span<const double> theta, const Effort& e) {
    if (near(theta)) return false;
    if (e.level >= 8) ++dear;
    return e.level < 8;
  };
  const auto inside = s.value;
  s.value = [&](std::span<const double> theta, const Effort& e) -> std::optional<double> {
    return near(theta) ? inside(theta, e) : -1e4 + theta[0];
  };
  s.options.starts = 4;
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_EQ(f.effort.level, 4);
  EXPECT_LT(dear, 400u);
  EXPECT_GT(dear, 0u);
}

TEST(Search, GoesOnWithFinerStepsWhileTheyMoveTheMaximum) {
  const Found f = biased(1.0).run();
  EXPECT_TRUE(f.converged);
  EXPECT_GE(f.effort.level, 5);
  EXPECT_NEAR(f.theta[0], 1, 0.1 * std::exp2(4 - f.effort.level) + 4 * f.mc_se[0]);
  EXPECT_LE(f.mc_se[0], 0.0135);
  EXPECT_GE(biased(4).run().effort.level, 7);
  EXPECT_EQ(biased(0.05).run().effort.level, 4);
}

TEST(Search, SaysByHowMuchStepsStillMatter) {
  Synthetic s = biased(1.5);
  s.options.levels = {4, 5};
  const Found f = s.run();
  EXPECT_TRUE(mentions(f, "the steps still matter"));
  EXPECT_FALSE(f.converged);
}

TEST(Search, AtTheLimitOfWorkItEndsWithTheFinestStepsThatItKnows) {
  int taken = 0;
  for (double limit = 4e6; limit < 4e7; limit *= 1.25) {
    Synthetic s = biased(1.0);
    s.options.most_cost = limit;
    const Found f = s.run();
    EXPECT_NEAR(f.theta[0], 1, 0.1 * std::exp2(4 - f.effort.level) + 4 * f.mc_se[0]) << limit;
    EXPECT_LE(f.mc_se[0], 0.0135);
    if (!mentions(f, "the steps still matter: the last finer ones moved 'p1' by")) continue;
    ++taken;
    EXPECT_TRUE(mentions(f, ", the next may by about"));
    EXPECT_TRUE(f.converged);
    EXPECT_GE(f.effort.level, 5);
  }
  EXPECT_GT(taken, 0);
}

TEST(Search, TheLimitIsOfWorkNotOfSteps) {
  Synthetic cheap = biased(4), dear = biased(4);
  cheap.options.most_cost = dear.options.most_cost = 1e8;
  dear.cost = 30;
  EXPECT_GT(cheap.run().effort.level, dear.run().effort.level);
}

// log p̂ is half its variance too low, and here the variance doubles within a standard error.
TEST(Search, NoiseThatChangesDoesNotMoveTheMaximum) {
  double z = 0;
  constexpr int kSeeds = 30;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Synthetic s = parabola(2, seed);
    s.louder = [](std::span<const double> t) { return std::exp2((t[0] - 1) / 0.1); };
    const Found f = s.run();
    EXPECT_LT(f.mc_se[0], 0.013);
    z += (f.theta[0] - 1) / f.mc_se[0] / std::sqrt(kSeeds);
  }
  EXPECT_LT(std::abs(z), 3.3);  // false alarms: 1 in 1000
}

TEST(Search, GoesOnWithALargerLawWhileThatMovesTheMaximum) {
  Synthetic s = parabola(2);
  s.kind = Engine::LawKind::moments;
  const auto whole = s.value;
  s.value = [whole](std::span<const double> t, const Effort& e) {
    const double moved[] = {t[0] - 0.1 * 4000 / static_cast<double>(e.law_particles), t[1]};
    return whole(moved, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_GE(f.effort.law_particles, 4096);
  EXPECT_NEAR(f.theta[0], 1, 0.1 * 0.8 + 4 * f.mc_se[0]);
  EXPECT_LE(f.mc_se[0], 0.012);
}

// Steps and law are made finer at once to see whether either matters, and one by one only where something does.
TEST(Search, LooksAtStepsAndLawTogether) {
  const auto steps_alone = [](double by) {
    Synthetic s = biased(by);
    s.noise = 1000;  // rounds have more particles than those that settle, whose law has 1024
    s.kind = Engine::LawKind::moments;
    std::set<std::pair<int, std::size_t>> seen;  // levels and N
    s.value = [&seen, whole = s.value](std::span<const double> t, const Effort& e) {
      if (e.law_particles > 1024) seen.emplace(e.level, e.law_particles);
      return whole(t, e);
    };
    EXPECT_TRUE(s.run().converged);
    return std::ranges::any_of(seen, [&](const auto& one) { return seen.contains({one.first + 1, one.second}); });
  };
  EXPECT_FALSE(steps_alone(0));
  EXPECT_TRUE(steps_alone(0.4));
}

TEST(Search, NoiseThatHidesTheMaximumIsSaid) {
  Synthetic s = parabola(2);
  s.noise = 4e6;  // a standard deviation of 16 with the most particles
  const Found f = s.run();
  EXPECT_FALSE(f.converged);
  EXPECT_FALSE(f.findings.empty());
}

TEST(Search, TooFewParticlesByHandAreSaid) {
  Synthetic s = parabola(2);
  s.options.particles = 8;  // a standard deviation of 3.5
  const Found f = s.run();
  EXPECT_FALSE(f.converged);
  EXPECT_TRUE(mentions(f, "filters of 8 particles are too few"));
}

TEST(Search, AnEndWhereAnotherParameterMeetsItsBound) {
  // Only the sum is seen, but K cannot be negative: k ends where the sum alone would end it.
  Synthetic s;
  s.noise = 40;
  s.unknowns = {{"k", 2.0, 0.0}, {"K", 0.3, 0.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double sum = (t[0] + t[1] - 2) / 0.2, K = (t[1] - 0.5) / 1.0;
    return -(sum * sum + K * K) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  ASSERT_TRUE(f.intervals[0].upper);
  // (k − 2)²/0.2² + 0.5² = 3.84
  EXPECT_NEAR(*f.intervals[0].upper, 2.38, 0.06);
}

// Two rates whose product is known to 5 % and one of them to a factor of 2.7: a banana on their own scales, an ellipse
// on logarithmic ones.
TEST(Search, ARidgeOfProductsIsSeenOnLogarithmicScales) {
  for (const double start : {0.5, 2.0}) {
    Synthetic s;
    s.noise = 20;
    s.unknowns = {{"rate", start * 0.3, 0.0}, {"strength", 2.0, 0.0}};
    s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
      if (t[0] <= 0 || t[1] <= 0) return {};
      const double rate = std::log(t[0] / 0.3) / 0.5, product = std::log(t[0] * t[1] / 0.3) / 0.05;
      return -(rate * rate + product * product) / 2;
    };
    const Found f = s.run();
    EXPECT_TRUE(f.converged);
    const double half = 1.96 * 0.5;
    for (const std::size_t p : {0, 1}) {
      const double top = p == 0 ? 0.3 : 1, sd = p == 0 ? 0.5 : std::hypot(0.5, 0.05);
      ASSERT_TRUE(f.intervals[p].lower && f.intervals[p].upper);
      EXPECT_NEAR(std::log(f.theta[p] / top), 0, 0.2 * sd);
      EXPECT_NEAR(std::log(*f.intervals[p].lower / top), -half, 0.15 * half);
      EXPECT_NEAR(std::log(*f.intervals[p].upper / top), half, 0.15 * half);
      ASSERT_TRUE(f.intervals[p].std_error);
      EXPECT_NEAR(*f.intervals[p].std_error / top, sd, 0.35 * sd);
    }
  }
}

// What is a parabola on its own scale stays on it, also near a bound.
TEST(Search, ParabolasStayOnTheirOwnScale) {
  Synthetic s = parabola(2);
  for (Parameter& p : s.unknowns) p.lower = 0;
  SerialRunner runner;
  FitObserver observer;
  Evaluations evaluate(s, runner, observer, 1);
  const Box box(s.unknowns);
  RoundsOptions rounds_options;
  rounds_options.name = "r";
  Rounds rounds(evaluate, box, rounds_options,
                Region::of(box.from(std::vector{1.05, 0.95}), 0.01 * Eigen::MatrixXd::Identity(2, 2), 2),
                {.level = 4, .particles = 512});
  ASSERT_TRUE(rounds.settle() && rounds.refine());
  EXPECT_FALSE(rounds.straighter());
}

// One that a bound holds back may not leave a narrow ridge by itself: only a − J is known well, and J cannot be
// negative.
TEST(Search, EndsFollowARidgeToABound) {
  Synthetic s;
  s.noise = 100;
  s.unknowns = {{"a", 3.0, 0.0}, {"b", 3.0, 0.0}, {"J", 0.1, 0.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double ridge = (t[0] + 4 * t[2] - 3) / 0.05, J = (t[2] - 0.12) / 0.2,
                 b = (t[1] - 3 - 1.5 * (t[2] - 0.12)) / 0.3;
    return -(ridge * ridge + J * J + b * b) / 2;
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  ASSERT_TRUE(f.intervals[1].lower && f.intervals[1].upper);
  // Below, J is at its bound: ((b − 2.82)/0.3)² + 0.6² = 3.84; above, (b − 3)² = 3.84 (0.3² + 0.3²).
  EXPECT_NEAR(*f.intervals[1].lower, 2.82 - 0.3 * std::sqrt(3.84 - 0.36), 0.08);
  EXPECT_NEAR(*f.intervals[1].upper, 3 + std::sqrt(3.84 * 0.18), 0.08);
}

TEST(Ends, APointThatIsHigherThanTheTopIsReturned) {
  Synthetic s = parabola(2);
  bool raised = false;
  s.value = [&raised, whole = s.value](std::span<const double> t, const Effort& e) -> std::optional<double> {
    return *whole(t, e) + (raised && t[0] > 1.12 ? 5 : 0);
  };
  SerialRunner runner;
  FitObserver observer;
  Evaluations evaluate(s, runner, observer, 1);
  const Box box(s.unknowns);
  const Eigen::MatrixXd covariance = 0.01 * Eigen::MatrixXd::Identity(2, 2);
  RoundsOptions rounds_options;
  rounds_options.name = "r";
  Rounds rounds(evaluate, box, rounds_options, Region::of(box.from(std::vector{1.05, 0.95}), covariance, 2),
                {.level = 4, .particles = 512});
  ASSERT_TRUE(rounds.settle() && rounds.refine());
  const auto guesses = guessed_ends(*rounds.fit(), box, {});
  ASSERT_EQ(guesses.size(), 4);
  const Ends as_guessed = find_ends(evaluate, box, rounds, guesses, "as guessed");
  ASSERT_EQ(as_guessed.distances.size(), 4);
  EXPECT_FALSE(as_guessed.higher);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(as_guessed.distances[i], guesses[i].guess);
  raised = true;
  const Ends ends = find_ends(evaluate, box, rounds, guesses, "raised");
  ASSERT_TRUE(ends.higher);
  EXPECT_GT(box.theta(*ends.higher)[0], 1.12);
}

// Guesses from a cubic polynomial are close to the ends of the profile where the parabola's are not, and the other
// parameter is where it follows to.
TEST(Ends, GuessesKnowThatALikelihoodIsSkewed) {
  Synthetic s;
  s.noise = 0.4;
  s.unknowns = {{"rate", 1.0, 0.0}, {"mu", 1.0}};
  s.value = [](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double m = (t[1] - 2 * t[0]) / 0.2;  // follows the rate
    return 100 * std::log(t[0]) - 100 * t[0] - m * m / 2;
  };
  SerialRunner runner;
  FitObserver observer;
  Evaluations evaluate(s, runner, observer, 1);
  const Box box(s.unknowns);
  const Eigen::MatrixXd covariance = 0.01 * Eigen::MatrixXd::Identity(2, 2);
  RoundsOptions rounds_options;
  rounds_options.name = "r";
  Rounds rounds(evaluate, box, rounds_options, Region::of(box.from(std::vector{1.1, 1.0}), covariance, 2),
                {.level = 4, .particles = 512});
  ASSERT_TRUE(rounds.settle() && rounds.refine());
  const auto guesses = guessed_ends(*rounds.fit(), box, {});
  ASSERT_EQ(guesses.size(), 4);
  // 100 log θ − 100 θ + 100 falls by 1.92 at 0.8166 and 1.2090; the parabola says 0.8040 and 1.1960.
  const double rate = rounds.fit()->top.z[0];
  EXPECT_NEAR(rate - guesses[0].guess, 0.8166, 0.005);
  EXPECT_NEAR(rate + guesses[1].guess, 1.2090, 0.005);
  for (const End& e : {guesses[0], guesses[1]}) {
    const double there = rate + e.sign * e.guess;
    EXPECT_NEAR(rounds.fit()->top.z[1] + e.guess * e.ridge[1], 2 * there, 0.01) << e.sign;
  }
}

// A maximum in three dimensions, skewed in the first: 4 n (log θ − θ) with mean 1, and normal in the others.
Synthetic skewed(double n, std::uint64_t seed) {
  Synthetic s;
  s.noise = 0.35 * 512;
  s.seed = seed;
  s.unknowns = {{"rate", 1.0, 0.0}, {"mu", 1.0}, {"nu", 1.0}};
  s.value = [n](std::span<const double> t, const Effort&) -> std::optional<double> {
    const double m = (t[1] - 1) / 0.1, k = (t[2] - 0.5 - 0.5 * t[1]) / 0.2;
    return n * (std::log(t[0]) - t[0]) - m * m / 2 - k * k / 2;
  };
  return s;
}

// What is known of the likelihood near the top saves samples at the ends, and does not move them: over 20 seeds the
// ends of a skewed parameter are right to 9 % of their distances (root mean square), and all six take 100 samples where
// samples alone take 140.
TEST(Ends, ThePolynomialSavesSamplesAndDoesNotMoveEnds) {
  double squares = 0, samples = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Synthetic s = skewed(12, seed);
    SerialRunner runner;
    FitObserver observer;
    Evaluations evaluate(s, runner, observer, seed);
    const Box box(s.unknowns);
    const Eigen::MatrixXd covariance = Eigen::Vector3d(0.08, 0.01, 0.04).asDiagonal();
    RoundsOptions rounds_options;
    rounds_options.name = "r";
    Rounds rounds(evaluate, box, rounds_options, Region::of(box.from(std::vector{1.1, 1.0, 1.0}), covariance, 3),
                  {.level = 4, .particles = 512});
    ASSERT_TRUE(rounds.settle() && rounds.refine());
    const auto guesses = guessed_ends(*rounds.fit(), box, {});
    ASSERT_EQ(guesses.size(), 6);
    const std::size_t before = evaluate.count();
    const Ends ends = find_ends(evaluate, box, rounds, guesses, "ends");
    samples += static_cast<double>(evaluate.count() - before) / kSeeds;
    // 12 (log θ − θ + 1) = −1.92 at 0.5355 and 1.6772.
    const double rate = rounds.fit()->top.z[0];
    squares += std::pow((rate - *ends.distances[0] - 0.5355) / 0.4645, 2) / (2 * kSeeds);
    squares += std::pow((rate + *ends.distances[1] - 1.6772) / 0.6772, 2) / (2 * kSeeds);
  }
  EXPECT_LT(std::sqrt(squares), 0.09);
  EXPECT_LT(samples, 100);
}

TEST(Search, StepsOfPairwiseLawsCountByTheirNumberOfParticles) {
  const auto batches = [](bool pairwise) {
    Synthetic s = parabola(2);
    s.noise = 3000;
    s.kind = pairwise ? Engine::LawKind::pairs : Engine::LawKind::moments;
    s.options.most_cost = 1e8;  // a few thousand filters without pairs, a hundred with them
    const Found f = s.run();
    EXPECT_EQ(mentions(f, "the Monte Carlo error is"), pairwise);
    return s.runner.batches;
  };
  EXPECT_LT(batches(true), batches(false));
}

TEST(Search, StoppedOrOutOfTimeItTellsWhatItHas) {
  const std::size_t all = [] {
    Synthetic s = parabola(2);
    s.run();
    return s.runner.batches;
  }();
  for (std::size_t after = 3; after < all; ++after) {
    SerialRunner stopped, timed;
    stopped.stop_after = timed.time_after = after;
    const Found a = parabola(2).run(stopped), b = parabola(2).run(timed);
    EXPECT_TRUE(a.stopped);
    EXPECT_FALSE(a.converged);
    EXPECT_FALSE(b.converged);
    EXPECT_TRUE(mentions(b, "time granted"));
    EXPECT_EQ(a.theta.size(), 2);
    for (const double v : a.theta) EXPECT_TRUE(std::isfinite(v));
  }
  SerialRunner at_once;
  at_once.stop_after = 0;
  EXPECT_THROW(parabola(2).run(at_once), Stopped);
}

TEST(Search, ToleranceIsThatOfEveryParameter) {
  Synthetic s = parabola(2);
  s.options.tolerance = 0.003;
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  for (const double e : f.mc_se) EXPECT_LE(e, 0.003);
}

TEST(Search, TheSameSeedGivesTheSameBits) {
  const Found a = parabola(3, 5).run(), b = parabola(3, 5).run(), c = parabola(3, 6).run();
  EXPECT_EQ(a.theta, b.theta);
  EXPECT_EQ(a.mc_se, b.mc_se);
  EXPECT_NE(a.theta, c.theta);
}

TEST(Search, ImplausibleStartsAreTempered) {
  // A start whose likelihood is all noise: the variance grows with the distance from the maximum.
  Synthetic s = parabola(2);
  double lowest = 1;
  s.value = [&lowest, whole = s.value](std::span<const double> t, const Effort& e) -> std::optional<double> {
    lowest = std::min(lowest, e.temper);
    return 40 * *whole(t, e);
  };
  s.noise = 1e5;
  s.run();
  EXPECT_LT(lowest, 1);
}

// Noise of a tenth of the log-likelihood's depth hides no way from afar.
TEST(Explore, ObservationsSoonHaveTheirWeightWhereTheWayIsClear) {
  Synthetic s = parabola(2);
  s.unknowns[0].start = 3;
  const auto whole = s.value;
  s.louder = [whole](std::span<const double> t) { return 1 + std::pow((*whole(t, {}) + 100) / 10, 2); };
  std::size_t tempered = 0;
  s.value = [&, whole](std::span<const double> t, const Effort& e) {
    if (e.temper < 1) ++tempered;
    return whole(t, e);
  };
  const Found f = s.run();
  EXPECT_TRUE(f.converged);
  EXPECT_GT(tempered, 0);
  EXPECT_LT(tempered, 120);
}

// Looking ahead is for the far start alone, whose plain particles are all noise.
TEST(Explore, LooksAheadOnlyWhileThatPays) {
  Synthetic s = parabola(2);
  s.unknowns[0].start = 3;
  const auto whole = s.value;
  s.louder = [whole](std::span<const double> t) { return 1 + std::pow((*whole(t, {}) + 100) / 10, 2); };
  s.of_ahead = 0.05;
  std::size_t ahead = 0, all = 0;
  s.value = [&, whole](std::span<const double> t, const Effort& e) {
    ++all;
    if (e.ahead) ++ahead;
    return whole(t, e);
  };
  FitObserver observer;
  const Box box(s.unknowns);
  Evaluations evaluations(s, s.runner, observer, 1);
  const Explored found = explore(
      evaluations, box, {.name = "start", .start = Eigen::Vector2d(1, 1), .effort = {.level = 1, .particles = 256}});
  EXPECT_LT((found.mean - box.from(std::vector<double>{1, 1})).norm(), 0.3);
  EXPECT_FALSE(found.effort.ahead);
  EXPECT_GT(ahead, 0);
  EXPECT_LT(ahead, all / 2);
}

TEST(Explore, EndsWhereItComesToAKnownPlace) {
  Synthetic s = parabola(2);
  FitObserver observer;
  const Box box(s.unknowns);
  ExploreOptions options{.name = "start", .start = Eigen::Vector2d(3, 3), .effort = {.level = 1, .particles = 256}};
  const auto counted = [&](std::vector<Explored> known) {
    options.known = std::move(known);
    Evaluations evaluations(s, s.runner, observer, 1);
    Explored found = explore(evaluations, box, options);
    EXPECT_TRUE(found.found);
    EXPECT_LT((found.mean - box.from(std::vector<double>{1, 1})).norm(), 0.3);
    return std::pair(evaluations.count(), found);
  };
  const auto [alone, found] = counted({});
  Explored elsewhere = found;
  elsewhere.mean *= 2;
  EXPECT_EQ(counted({elsewhere}).first, alone);
  EXPECT_LT(counted({elsewhere, found}).first, alone * 9 / 10);
}

TEST(Records, ArePackedAndUnpacked) {
  const Record r{
      7, {{1.5, -2}, {.level = 5, .particles = 256, .law_particles = 512, .temper = 0.25}}, {{}, "no such thing", 12}};
  const Task task{"search ends 1", 3};
  const auto back = unpack<Record>(pack(r), task);
  EXPECT_EQ(back.serial, 7);
  EXPECT_EQ(back.point.theta, r.point.theta);
  EXPECT_EQ(back.point.effort, r.point.effort);
  EXPECT_FALSE(back.value.loglik);
  EXPECT_EQ(back.value.problem, "no such thing");
  EXPECT_EQ(unpack<Record>(pack(Record{0, {{1}, {}}, {-3.5, "", 0}}), task).value.loglik, -3.5);
  EXPECT_THROW(unpack<Record>(std::vector<double>{1, 2}, task), RunError);
}
}  // namespace
}  // namespace mckean::search
