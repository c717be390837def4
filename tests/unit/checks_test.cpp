// What a fit by scores says of itself, where the truth is known; and its predictions.
#include "infer/checks.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "unit/synthetic_chains.hpp"

namespace mckean {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using Code = Finding::Code;

bool says(const Findings& findings, Code code) { return std::ranges::count(findings, code, &Finding::code) == 1; }

double number(const Findings& findings, Code code, std::string_view name) {
  for (const Finding& f : findings)
    for (const Finding::Item& i : f.data)
      if (f.code == code && i.name == name) return std::get<double>(i.value);
  return std::nan("");
}

// A fit that ended at the maximum of level 5 with a law of 200 particles, by some hundredths of a standard error.
struct Ended : SyntheticFit {
  Pilot pilot;
  StratifiedResult found;
  Ended() {
    pilot.arrived = true, pilot.fixed = {false, false};
    pilot.maximum.converged = true;
    pilot.maximum.information = information;
    pilot.maximum.whitening = MatrixXd(covariance().llt().matrixL());
    pilot.maximum.noise = chains->noise;
    pilot.maximum.u = top, pilot.maximum.u_error = 1e-4 * covariance();
    pilot.plan.highest = 5, pilot.plan.centre = top;
    pilot.plan.chains.resize(1);
    pilot.plan.chains[0].law_particles = 200;
    found.u = top, found.mc_se = 0.03 * se();
  }
  VectorXd se() const { return covariance().diagonal().cwiseSqrt(); }
  Findings checked() {
    Workbench b = bench();
    FitResult out;
    out.value = {0.1, 0.1};
    check(b, pilot, found, out);
    EXPECT_TRUE(out.loglik);
    return out.findings;
  }
  // Scores that move the maximum by so many standard errors of the first parameter.
  void move(std::function<double(int level, double law)> by) {
    chains->score = [this, by = std::move(by)](const VectorXd& u, int level, double law) {
      return VectorXd(information * (top + VectorXd{{by(level, law) * se()[0], 0}} - u));
    };
  }
};

TEST(Checks, FindNothingWhereNothingIsWrong) {
  const Findings findings = Ended().checked();
  EXPECT_TRUE(findings.empty()) << to_text(findings[0]);
}

TEST(Checks, PhasesThatDisagree) {
  Ended fit;
  fit.pilot.plan.centre[1] += 0.6 * fit.se()[1];
  const Findings findings = fit.checked();
  EXPECT_TRUE(says(findings, Code::phases_disagree));
  EXPECT_NEAR(number(findings, Code::phases_disagree, "shift"), 0.6, 1e-9);
  fit.pilot.maximum.u_error = 0.04 * fit.covariance();  // three errors of the pilot are no disagreement
  EXPECT_FALSE(says(fit.checked(), Code::phases_disagree));
}

TEST(Checks, AnAscentThatIsNotAtRestAndErrorsThatAreNotKnown) {
  Ended fit;
  fit.pilot.arrived = false, fit.pilot.maximum.relative_error = 0.3;
  const Findings findings = fit.checked();
  EXPECT_TRUE(says(findings, Code::ascent_not_at_rest));
  EXPECT_NEAR(number(findings, Code::standard_errors_uncertain, "percent"), 30, 1e-9);
}

TEST(Checks, StepsThatLeaveABias) {
  Ended fit;
  // 0.8 standard errors beyond level 5; scores at that level vanish at the estimate.
  fit.move([](int level, double) { return 0.8 * (std::ldexp(1.0, 5 - level) - 1); });
  const Findings findings = fit.checked();
  EXPECT_TRUE(says(findings, Code::discretisation_bias));
  EXPECT_FALSE(says(findings, Code::law_bias));
  const double error = number(findings, Code::discretisation_bias, "error");
  EXPECT_NEAR(number(findings, Code::discretisation_bias, "shift"), 0.8, 4 * error);
  EXPECT_LE(error, 0.08);
}

TEST(Checks, ALawThatLeavesABias) {
  Ended fit;
  fit.move([](int, double law) { return 0.8 * (200 / law - 1); });
  const Findings findings = fit.checked();
  EXPECT_TRUE(says(findings, Code::law_bias));
  EXPECT_FALSE(says(findings, Code::discretisation_bias));
  const double error = number(findings, Code::law_bias, "error");
  EXPECT_NEAR(number(findings, Code::law_bias, "shift"), 0.8, 4 * error);
  EXPECT_LE(error, 0.1);
}

TEST(Checks, NamesWhatIsNotDetermined) {
  Ended fit;
  Findings findings;
  fit.pilot.maximum.undetermined = {VectorXd{{1, -1}} / std::sqrt(2.0)};
  EXPECT_EQ(determined(fit.model, fit.pilot, findings), (std::vector<bool>{false, false}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(std::get<std::string>(findings[0].data[0].value), "0.71 a - 0.71 b");
  fit.pilot.maximum.undetermined = {}, fit.pilot.fixed = {false, true};
  findings.clear();
  EXPECT_EQ(determined(fit.model, fit.pilot, findings), (std::vector<bool>{true, false}));
  EXPECT_TRUE(says(findings, Code::bound_active));
}

// 200 errors of predictions, by a formula of row and normal variate.
Findings predicted(const std::function<double(std::size_t row, double z, double before)>& error) {
  Data data{"z.csv", {"y"}, {{"", {}, {}, {}}}};
  std::vector<double> z;
  search::NormalDraws normal(3);
  double before = 0;
  for (std::size_t row = 0; row < 200; ++row) {
    data.series[0].times.push_back(static_cast<double>(row));
    data.series[0].values.push_back(0);
    data.series[0].lines.push_back(static_cast<int>(row) + 2);
    z.push_back(before = error(row, normal.next(), before));
  }
  Findings out;
  check_predictions(data, z, out);
  return out;
}

TEST(Predictions, PatternsAreSeenAndNothingElse) {
  const auto plain = [](std::size_t, double z, double) { return z; };
  EXPECT_TRUE(predicted(plain).empty());
  const Findings far = predicted([](std::size_t row, double z, double) { return row == 7 ? 6 : z; });
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].code, Code::unexplained);
  EXPECT_EQ(std::get<std::string>(far[0].data[0].value), "z.csv:9");
  EXPECT_TRUE(
      says(predicted([](std::size_t row, double z, double) { return row % 10 == 0 ? 6 : z; }), Code::many_unexplained));
  EXPECT_TRUE(says(predicted([](std::size_t, double z, double) { return z + 0.6; }), Code::one_sided_predictions));
  EXPECT_TRUE(says(predicted([](std::size_t, double z, double) { return 1.5 * z; }), Code::spread_of_predictions));
  EXPECT_TRUE(says(predicted([](std::size_t, double z, double) { return 0.5 * z; }), Code::spread_of_predictions));
  EXPECT_TRUE(says(predicted([](std::size_t, double z, double before) { return 0.6 * before + 0.8 * z; }),
                   Code::correlated_predictions));
}
}  // namespace
}  // namespace mckean
