// The default fit by particles against exact maxima at the same level, and by quadrature against the oracles.
#include <gtest/gtest.h>

#include <cmath>

#include "mckean/fit.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;

constexpr const char* kMeanFieldOu = R"toml(
[state]
x = 0
[parameters]
kappa = { start = 1.6, lower = 0 }
mu = 12
[interaction]
m = "x'"
[drift]
x = "kappa*(mu - x) + 0.5*(m - x)"
[diffusion]
x = 1
[observation]
y = "normal(x, 0.8)"
)toml";

Data data_for(const Model& model) {
  Data data = oracle::simulate(oracle::scalar_ou({0.8, 6, 0.5, 0.64}), {.T = 40, .tau = 0.8, .count = 2});
  data.columns = model.columns();
  return data;
}

FitResult fitted(const Model& model, const Data& data, const FitOptions& options) {
  ThreadRunner runner(all_cores());
  FitObserver nobody;
  return fit({model, data}, options, runner, nobody);
}

oracle::Maximum exact(const Data& data, int level) {
  return oracle::mle(
      [](const VectorXd& v) {
        return oracle::mean_field_ou({v[0], v[1], 0.5, 0.64});
      },
      VectorXd{{0.8, 6}}, data, level);
}

// Over six seeds the sum of z² of each parameter is below 22.5 but once in 1000 times, and the Monte Carlo errors
// themselves are bounded.
TEST(LikelihoodFit, ParticlesFindTheExactMaximumOfTheLevel) {
  const Model model = parse_model(kMeanFieldOu, "ou.toml");
  const Data data = data_for(model);
  const oracle::Maximum at = exact(data, 3);
  double squares[2] = {}, ratio[2] = {};
  constexpr std::uint64_t kSeeds = 6;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const FitResult r = fitted(model, data, {.engine = "particles", .levels = std::pair(3, 3), .seed = seed});
    EXPECT_TRUE(r.converged);
    EXPECT_EQ(r.engine, "particles");
    ASSERT_TRUE(r.loglik);
    EXPECT_NEAR(r.loglik->value, at.value, 0.1 + 4 * r.loglik->se.value_or(0));
    EXPECT_LE(r.loglik->se.value_or(0), 0.125);
    for (Eigen::Index p = 0; p < 2; ++p) {
      const auto i = static_cast<std::size_t>(p);
      ASSERT_TRUE(r.intervals[i].std_error);
      EXPECT_LE(r.mc_se[i], 0.12 * at.standard_error[p]);
      squares[i] += std::pow((r.value[i] - at.theta[p]) / r.mc_se[i], 2);
      ratio[i] += *r.intervals[i].std_error / at.standard_error[p] / kSeeds;
    }
  }
  for (const double s : squares) EXPECT_LT(s, 22.5);
  for (const double r : ratio) EXPECT_NEAR(r, 1, 0.1);
}

// In continuous time, or at the level that is asked for: by a Kalman filter where nothing else is asked for, and by
// quadrature, which extrapolates.
TEST(LikelihoodFit, ExactEnginesAreTakenAndExact) {
  const Model model = parse_model(kMeanFieldOu, "ou.toml");
  const Data data = data_for(model);
  for (const char* engine : {"auto", "quadrature"})
    for (const int level : {oracle::continuous, 2}) {
      SCOPED_TRACE(testing::Message() << engine << " level " << level);
      FitOptions options{.engine = engine};
      if (level != oracle::continuous) options.levels = std::pair(level, level);
      const FitResult r = fitted(model, data, options);
      EXPECT_EQ(r.engine, std::string(engine) == "auto" ? "kalman" : engine);
      EXPECT_TRUE(r.converged && r.exact);
      EXPECT_EQ(r.continuous, level == oracle::continuous);
      const oracle::Maximum at = exact(data, level);
      EXPECT_NEAR(r.loglik->value, at.value, 1e-3);
      for (Eigen::Index p = 0; p < 2; ++p) {
        const auto i = static_cast<std::size_t>(p);
        EXPECT_EQ(r.mc_se[i], 0);
        EXPECT_NEAR(r.value[i], at.theta[p], 2e-3 * at.standard_error[p]);
        EXPECT_NEAR(*r.intervals[i].std_error / at.standard_error[p], 1, 2e-3);
      }
    }
}

// In continuous time the profile of the coupling of an Ornstein-Uhlenbeck process is flat towards infinity; at an Euler
// level it collapses at the limit of stability, which moves out as the steps are halved. On these 30 observations that
// of kappa is as well: it falls by 1.22 and stays there.
TEST(LikelihoodFit, ACouplingWithoutUpperEndHasNone) {
  const Model model = tests::shipped("mean-field-ou");
  Data data = oracle::simulate(oracle::scalar_ou({1, 7, 1, 1}), {.T = 30, .tau = 1});
  data.columns = model.columns();
  const FitResult r = fitted(model, data, {});
  EXPECT_TRUE(r.converged);
  for (const std::size_t p : {0, 2}) {
    EXPECT_FALSE(r.intervals[p].upper) << p;
    EXPECT_FALSE(r.intervals[p].std_error) << p;
  }
  for (const std::size_t p : {1, 3}) EXPECT_TRUE(r.intervals[p].std_error) << p;
  EXPECT_TRUE(r.intervals[1].lower && *r.intervals[1].lower < 7 && *r.intervals[1].upper > 7);
}
}  // namespace
