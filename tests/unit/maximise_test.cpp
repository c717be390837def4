// Newton's method, ends of profiles and scans along parameters on functions that are written down.
#include "infer/maximise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "infer/line_scan.hpp"
#include "infer/profile_end.hpp"
#include "oracle/maximise.hpp"

namespace {

using namespace mckean;
using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

// A likelihood that is a formula; NaN stands for none. Tempered as if all of it came from observations.
struct Written : Engine {
  oracle::Function f;
  std::vector<Parameter> unknowns;
  double of_steps = 0;  // times (aΔ)⁴ is the error of steps, with a = θ₁; where aΔ > 3 they explode
  std::function<bool(double)> implausible = [](double) { return false; };  // at θ₁, where nothing is tempered
  oracle::Function tempered;                                               // in place of f there; empty: f
  std::function<double(double)> cost = [](double) { return 0; };           // at θ₁
  mutable int calls = 0;

  Written(oracle::Function function, std::vector<Parameter> parameters)
      : f(std::move(function)), unknowns(std::move(parameters)) {}

  std::string_view name() const override { return "written"; }
  bool exact() const override { return true; }
  bool continuous() const override { return true; }
  Order serves() const override { return Order::information; }
  const std::vector<Parameter>& parameters() const override { return unknowns; }
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override {
    return std::make_shared<const Law>(theta);
  }
  Outcome evaluate(const Law& law, Order order, Draw, const Request& request) const override {
    ++calls;
    const VectorXd theta = VectorXd::Map(law.theta().data(), static_cast<Index>(law.theta().size()));
    Evaluation out;
    out.work = cost(theta(0));
    const double step = of_steps == 0 ? 0 : std::exp2(-request.effort.level);
    if (theta(0) * step > 3) return Failure{Failure::Code::undefined, "an explosion"};
    const bool plain = request.effort.temper == 1;
    if (plain && !request.accepts_implausible && implausible(theta(0)))
      return Failure{Failure::Code::implausible, "deep in the tails"};
    const oracle::Function& here = plain || !tempered ? f : tempered;
    const auto g = [&](const VectorXd& t) { return here(t) + of_steps * std::pow(t(0) * step, 4); };
    out.loglik = request.effort.temper * g(theta);
    if (std::isnan(out.loglik)) return Failure{Failure::Code::undefined, "nothing here"};
    if (order == Order::information) {
      const VectorXd steps = VectorXd::Constant(theta.size(), 1e-3);
      const VectorXd slope = request.effort.temper * oracle::gradient(g, theta, steps);
      const MatrixXd bend = -request.effort.temper * oracle::hessian(g, theta, steps);
      out.gradient.assign(slope.begin(), slope.end());
      out.information.assign(bend.data(), bend.data() + bend.size());
    }
    return out;
  }
};

const Request kHere{.effort = {.level = kContinuous}};

Maximum highest(const Written& engine, const std::vector<double>& start) {
  const auto found = maximise(engine, start, {.request = kHere, .tolerance = 1e-5});
  EXPECT_TRUE(found);
  return found ? *found : Maximum{};
}

double banana(const VectorXd& t) { return -50 * std::pow(t(1) - t(0) * t(0), 2) - std::pow(1 - t(0), 2); }

TEST(Maximise, FollowsACurvedRidge) {
  const Written engine(banana, {{"a", -1.5}, {"b", 2}});
  const Maximum m = highest(engine, {-1.5, 2});
  EXPECT_TRUE(m.converged) << m.message;
  EXPECT_NEAR(m.theta[0], 1, 1e-5);
  EXPECT_NEAR(m.theta[1], 1, 1e-5);
  EXPECT_TRUE(m.at_bound.empty());
}

TEST(Maximise, StopsExactlyOnABoundAndLeavesOneAgain) {
  // Highest at (−1, 2); with a ≥ 0 at a = 0, where b is drawn to 1.5.
  const auto f = [](const VectorXd& t) {
    return -std::pow(t(0) + 1, 2) - 2 * std::pow(t(1) - 2 + 0.5 * (t(0) + 1), 2);
  };
  const Written engine(f, {{"a", 3, 0}, {"b", 0}});
  for (const std::vector<double>& start : {std::vector<double>{3, 0}, {0, 7}}) {
    const Maximum m = highest(engine, start);
    EXPECT_TRUE(m.converged) << m.message;
    EXPECT_EQ(m.theta[0], 0);
    EXPECT_NEAR(m.theta[1], 1.5, 1e-6);
    EXPECT_EQ(m.at_bound, std::vector<std::size_t>{0});
  }
  const Written inside([](const VectorXd& t) { return -std::pow(t(0) - 2, 2); }, {{"a", 1, 0}});
  EXPECT_NEAR(highest(inside, {0}).theta[0], 2, 1e-6);
}

TEST(Maximise, ComesBackFromABoundWithoutALikelihood) {
  // −x − 1/x, highest at 1, nothing at 0.
  const auto f = [](const VectorXd& t) { return t(0) <= 0 ? NAN : -t(0) - 1 / t(0); };
  const Written engine(f, {{"a", 40, 0}});
  const Maximum m = highest(engine, {40});
  EXPECT_TRUE(m.converged) << m.message;
  EXPECT_NEAR(m.theta[0], 1, 1e-5);
}

TEST(Maximise, ComesBackToAStartThatIsHigherThanWhereTemperingLed) {
  // A peak of 0 at 1 and one of −5 at 9, to which tempered observations lead from everywhere.
  const auto two = [](const VectorXd& t) {
    return std::log(std::exp(-2 * std::pow(t(0) - 1, 2)) + std::exp(-5 - 2 * std::pow(t(0) - 9, 2)));
  };
  Written engine(two, {{"a", 1.5}});
  engine.tempered = [](const VectorXd& t) { return -std::pow(t(0) - 9, 2); };
  engine.implausible = [](double) { return true; };
  EXPECT_NEAR(highest(engine, {1.5}).theta[0], 1, 1e-4);
  EXPECT_NEAR(highest(engine, {-6}).theta[0], 9, 1e-4);  // and not to one that is lower
}

TEST(Maximise, SaysThatADirectionIsFlat) {
  const Written engine([](const VectorXd& t) { return -std::pow(t(0) + t(1) - 1, 2); }, {{"a", 3}, {"b", 3}});
  const Maximum m = highest(engine, {3, 3});
  EXPECT_FALSE(m.converged);
  EXPECT_TRUE(m.flat);
  EXPECT_NE(m.message.find("singular"), std::string::npos) << m.message;
}

TEST(Maximise, StopsAtALimitOfWork) {
  Written engine(banana, {{"a", -1.5}, {"b", 2}});
  engine.cost = [](double) { return 10; };
  double spent = 0;
  const auto m = maximise(engine, {-1.5, 2}, {.request = kHere, .tolerance = 1e-5, .most_work = 50}, &spent);
  ASSERT_TRUE(m);
  EXPECT_FALSE(m->converged);
  EXPECT_NE(m->message.find("limit of work"), std::string::npos) << m->message;
  EXPECT_LE(engine.calls, 6);
  EXPECT_EQ(spent, 10 * engine.calls);
}

TEST(Maximise, LeavesASaddle) {
  // Two maxima at x = ±1; at 0 a saddle without slope.
  const auto f = [](const VectorXd& t) { return -std::pow(t(0) * t(0) - 1, 2) - t(1) * t(1); };
  const Written engine(f, {{"x", 0}, {"y", 1}});
  const Maximum m = highest(engine, {0, 1});
  EXPECT_TRUE(m.converged) << m.message;
  EXPECT_NEAR(std::abs(m.theta[0]), 1, 1e-5);
}

ExactMaximum top_of(const Written& engine, const std::vector<double>& start) {
  const Maximum m = highest(engine, start);
  ExactMaximum out;
  out.theta = m.theta, out.loglik = m.loglik, out.gradient = m.gradient, out.information = m.information;
  return out;
}

std::optional<double> end(const Written& engine, const ExactMaximum& top, int sign, double by, double guess) {
  return ProfileEnd(engine, kHere, kHere, 0, {top, 0, sign}).find(by, guess);
}

TEST(ProfileEnd, OfAProfileThatIsKnown) {
  // Over b the profile of a is −a²/2 − a⁴/4 up to 0.
  const auto f = [](const VectorXd& t) {
    return -t(0) * t(0) / 2 - std::pow(t(0), 4) / 4 - 3 * std::pow(t(1) - std::sin(t(0)), 2);
  };
  const Written engine(f, {{"a", 1}, {"b", 1}});
  const ExactMaximum top = top_of(engine, {0.5, 0.5});
  const double exact = std::sqrt(std::sqrt(1 + 4 * 1.92) - 1);  // a²/2 + a⁴/4 = 1.92
  engine.calls = 0;
  for (const int sign : {-1, 1}) {
    const auto found = end(engine, top, sign, 1.92, 1.96);
    ASSERT_TRUE(found);
    EXPECT_NEAR(*found, sign * exact, 0.01 * exact);
  }
  EXPECT_LE(engine.calls, 20);  // Newton's method, not a walk
}

TEST(ProfileEnd, AtABoundAndNowhere) {
  const Written engine([](const VectorXd& t) { return -std::pow(t(0) - 1, 2) / 8 - t(1) * t(1); },
                       {{"a", 1, 0}, {"b", 0}});
  const ExactMaximum top = top_of(engine, {1, 0});
  EXPECT_EQ(end(engine, top, -1, 1.92, 0.5), 0);  // fallen by 1/8 there
  // Falls towards −1, never by more.
  const Written flat([](const VectorXd& t) { return std::exp(-t(0) * t(0) / 2) - 1; }, {{"a", 0}});
  EXPECT_FALSE(end(flat, top_of(flat, {0.3}), 1, 1.92, 2));
}

// Highest at a = 1; long steps make it grow without end.
Written stiff() {
  Written out([](const VectorXd& t) { return -std::pow(std::log(t(0)), 2) / 2; }, {{"a", 1, 0}});
  out.of_steps = 1;
  return out;
}
const Request kExtrapolated{.effort = {.level = 1, .scheme = Scheme::splitting, .extrapolated = true}};

TEST(Extrapolated, LevelsThatAreApartAreNoLikelihood) {
  const Written engine = stiff();
  const std::vector<double> near{0.5}, far{4}, farther{8};
  EXPECT_TRUE(engine.at(near, Order::value, {}, kExtrapolated));
  for (const auto& theta : {far, farther}) {
    const Outcome at = engine.at(theta, Order::value, {}, kExtrapolated);
    ASSERT_FALSE(at);
    EXPECT_EQ(at.failure().code, Failure::Code::too_coarse);
  }
}

TEST(Extrapolated, MaximaAreThoseOfLevelsThatAreFineEnough) {
  const Written engine = stiff();
  const std::vector<double> start{4};
  EXPECT_FALSE(maximise(engine, start, {.request = kExtrapolated}));
  const auto found = maximise(engine, start, {.request = kExtrapolated, .tolerance = 1e-5, .finest = 8});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->converged) << found->message;
  EXPECT_GE(found->level, 3);
  EXPECT_NEAR(found->theta[0], 1, 0.02);
}

// Grows for ever, the more so the longer the steps are, up to where levels are too far apart.
TEST(Extrapolated, AWallOfTooLongStepsEndsASearchSoon) {
  Written engine([](const VectorXd& t) { return -1 / t(0); }, {{"a", 1, 0}});
  engine.of_steps = 1;
  EXPECT_FALSE(maximise(engine, {0.5}, {.request = kExtrapolated, .tolerance = 1e-3}));
  EXPECT_LE(engine.calls, 40);
}

// Levels are apart where the likelihood is far below its maximum, and agree there.
TEST(Extrapolated, LevelsMayBeApartOnTheWay) {
  Written engine([](const VectorXd& t) { return -200 * std::pow(std::log(t(0)), 2); }, {{"a", 1, 0}});
  engine.of_steps = 1;
  const std::vector<double> start{2};
  EXPECT_FALSE(engine.at(start, Order::value, {}, kExtrapolated));
  const auto found = maximise(engine, start, {.request = kExtrapolated, .tolerance = 1e-5, .finest = 8});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->converged) << found->message;
  EXPECT_EQ(found->level, kExtrapolated.effort.level);
  EXPECT_NEAR(found->theta[0], 1, 0.01);
}

TEST(Extrapolated, EndsAreThoseOfLevelsThatAreFineEnough) {
  const Written engine = stiff();
  const auto top = maximise(engine, {1}, {.request = kExtrapolated, .tolerance = 1e-5, .finest = 8});
  ASSERT_TRUE(top);
  const double exact = std::exp(std::sqrt(2 * 1.92));  // 7.1
  const auto found = [&](int finest) {
    return ProfileEnd(engine, kExtrapolated, kExtrapolated, finest, {described(top), 0, 1}).find(1.92, 2);
  };
  ASSERT_TRUE(found(8));
  EXPECT_NEAR(*found(8), exact, 0.02 * exact);
  EXPECT_THROW(found(2), LevelTooCoarse);
}

// By 0.2 with each doubling of the distance, at a cost that grows with it.
TEST(ProfileEnd, IsGivenUpWhereItTakesTooMuchWork) {
  Written falls([](const VectorXd& t) { return -0.2 * std::log2(1 + t(0)); }, {{"a", 1, 0}});
  falls.cost = [](double a) { return 1 + a; };
  const ExactMaximum top = described(maximise(falls, {0.5}, {.request = kHere, .tolerance = 1e-5}));
  EXPECT_THROW(end(falls, top, 1, 1.92, 0.5), EndTooFar);
  ProfileEnd near(falls, kHere, kHere, 0, {top, 0, 1});
  EXPECT_TRUE(near.find(0.5, 0.5));
  EXPECT_LT(near.work(), 300);
}

TEST(ProfileEnd, IsNotSoughtWhereTheProfileLevelsOff) {
  // Falls by 1.5 a/(1 + a): towards a limit, by half of what is left with each doubling.
  const Written levels([](const VectorXd& t) { return -1.5 * t(0) / (1 + t(0)); }, {{"a", 1, 0}});
  const ExactMaximum top = described(maximise(levels, {0.5}, {.request = kHere, .tolerance = 1e-5}));
  levels.calls = 0;
  EXPECT_FALSE(end(levels, top, 1, 1.92, 0.5));
  EXPECT_LE(levels.calls, 28);  // 36 as far as an end is sought
  // By 0.2 with each doubling, for ever.
  const Written falls([](const VectorXd& t) { return -0.2 * std::log2(1 + t(0)); }, {{"a", 1, 0}});
  const ExactMaximum other = described(maximise(falls, {0.5}, {.request = kHere, .tolerance = 1e-5}));
  const auto found = end(falls, other, 1, 1.92, 0.5);
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, std::exp2(9.6) - 1, 10);
}

TEST(LineScan, FindsALobeFarAway) {
  // A periodogram: lobes of width 0.06 about 1.3, seen from 0.4; the amplitude c enters as a parabola.
  const auto f = [](const VectorXd& t) {
    const double x = 50 * (t(0) - 1.3), lobe = std::abs(x) < 1e-6 ? 1 : std::sin(x) / x;
    return -40 * std::pow(t(1) - lobe, 2) + 40 * lobe * lobe;
  };
  const Written engine(f, {{"w", 0.4, 0}, {"c", 0.3}});
  const Candidates found = scan_line(engine, kHere, {.through = {0.4, 0.3}, .parameter = 0, .first = 24, .most = 200});
  ASSERT_FALSE(found.best.empty());
  const Maximum m = highest(engine, found.best[0].theta);
  EXPECT_NEAR(m.theta[0], 1.3, 1e-3);
  EXPECT_NEAR(m.theta[1], 1, 1e-3);
}
}  // namespace
