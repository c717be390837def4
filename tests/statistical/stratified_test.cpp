// The stratified estimator, from poor starts and with nothing chosen by hand, against exact maxima at the level that it
// chose. Each comparison is a z-score with the fit's own Monte Carlo error, which is below a tenth of the standard
// error.
//
// Over the seeds of a setting the sum of squares is compared with chi-square quantiles, 0.0005 and 0.9995, for as many
// degrees of freedom: a false alarm in 1000 for each parameter, somewhat more since standard errors come from about 24
// replicates.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "infer/fit.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

// Seeds, and quantiles of chi-square for as many degrees of freedom.
constexpr struct {
  int count;
  double least, most;
} kSix{6, 0.2994, 24.10};

FitResult fitted(const Model& model, const Data& data, std::uint64_t seed, std::vector<double> start) {
  FitPlan options;
  options.estimator = Estimator::stratified;
  options.pilot.chain.start = std::move(start);
  options.pilot.chain.antithetic_laws = true;
  options.seed = seed;
  ThreadRunner runner(all_cores());
  FitObserver nobody;
  return fit({model, data}, options, runner, nobody);
}

// exact(level): the maximum at a level.
template <class Exact>
void expect_honest(const Model& model, const Data& data, const std::vector<std::vector<double>>& starts,
                   Exact&& exact) {
  std::vector<double> sums(model.parameters().size());
  std::map<int, oracle::Maximum> known;
  for (int seed = 1; seed <= kSix.count; ++seed) {
    SCOPED_TRACE(seed);
    const auto& start = starts[static_cast<std::size_t>(seed) % starts.size()];
    const FitResult r = fitted(model, data, static_cast<std::uint64_t>(seed), start);
    if (!known.contains(r.highest)) known[r.highest] = exact(r.highest);
    const oracle::Maximum& at = known[r.highest];
    ASSERT_TRUE(at.converged);
    for (std::size_t p = 0; p < sums.size(); ++p) {
      const auto i = static_cast<Eigen::Index>(p);
      const double z = (r.value[p] - at.theta[i]) / r.mc_se[p];
      EXPECT_LT(std::abs(z), 4.5) << r.value[p] << " for " << at.theta[i];
      sums[p] += z * z;
      ASSERT_TRUE(r.intervals[p].std_error);
      EXPECT_LE(r.mc_se[p], 0.1 * *r.intervals[p].std_error);
      EXPECT_NEAR(*r.intervals[p].std_error / at.standard_error[i], 1, 0.15);
    }
  }
  for (const double s : sums) {
    EXPECT_GT(s, kSix.least);
    EXPECT_LT(s, kSix.most);
  }
}

TEST(StratifiedEstimator, MeanFieldOuFromPoorStarts) {
  const Model model = parse_model(R"toml(
[state]
x = 0
[parameters]
kappa = { start = 1.5, lower = 0 }
mu = 12
[interaction]
m = "x'"
[drift]
x = "kappa*(mu - x) + 0.5*(m - x)"
[diffusion]
x = 1
[observation]
y = "normal(x, 0.8)"
)toml",
                                  "ou.toml");
  Data data = oracle::simulate(oracle::scalar_ou({0.8, 6, 0.5, 0.64}), {.T = 30, .tau = 0.8});
  data.columns = model.columns();
  expect_honest(model, data, {{1.5, 12}, {0.3, 3}}, [&](int level) {
    return oracle::mle(
        [](const VectorXd& v) {
          return oracle::mean_field_ou({v[0], v[1], 0.5, 0.64});
        },
        VectorXd{{0.8, 6}}, data, level);
  });
}

TEST(StratifiedEstimator, KuramotoThatSynchronises) {
  const Model model = tests::shipped("kuramoto", {{"K", -1}});
  Data data = oracle::simulate(oracle::kuramoto({.theta = 0.5, .K = -1}), {.T = 15, .tau = 1});
  data.columns = model.columns();
  expect_honest(model, data, {{0}, {1}}, [&](int level) {
    return oracle::mle([](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = -1}); }, VectorXd{{0.5}},
                       data, level);
  });
}

TEST(StratifiedEstimator, NamesWhatTheDataDoNotDetermine) {
  const Model model = parse_model(R"toml(
[state]
x = 0
[parameters]
a = 0.5
b = 0.2
[interaction]
m = "x'"
[drift]
x = "a + b + (m - x)"
[diffusion]
x = 0.5
[observation]
y = "normal(x, 0.5)"
)toml",
                                  "sum.toml");
  Data data = oracle::simulate(oracle::scalar_ou({0.1, 6, 0.9, 0.25, 0.5}), {.T = 12, .tau = 0.5});
  data.columns = model.columns();
  const FitResult r = fitted(model, data, 1, model.start_values());
  EXPECT_FALSE(r.intervals[0].std_error);
  EXPECT_FALSE(r.intervals[1].std_error);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].code, Finding::Code::not_identified) << to_text(r.findings[0]);
  EXPECT_NE(std::get<std::string>(r.findings[0].data[0].value).find('a'), std::string::npos);
}
}  // namespace
