// The paper's estimator against exact maximum-likelihood estimates at its highest level L.
//
// Its mean is E θ^{T_pmax} at level L: the sum over cells telescopes. So each setting takes two measurements.
// Bias: the mean of independent single chains of T_pmax iterations at level L less the exact maximum; what p_max and a
// finite N leave. It must be below a tenth of the Monte Carlo standard error of an average that is tested next, its own
// Monte Carlo error included twice.
// Averages over 20 seeds: z = (average - exact maximum) / its own standard error. Σ z² must lie between the quantiles
// 0.0005 and 0.9995 of chi-square with 20 degrees of freedom, and the average over all seeds within 4 of its standard
// errors of the maximum. A replicate falls into a random cell and is divided by the cell's probability, so that it has
// heavy tails: 10000 campaigns drawn from the replicates themselves show that fewer than one in 250 lies outside the
// bounds for Σ z². The second bound fails a correct program at most once in 5000, with the largest bias allowed: √20/10
// of its standard errors.
//
// The estimator is not centred and a replicate's spread grows with θ, so that models measure θ from the chains' start,
// a fraction of the statistical standard error below the maximum. Then cells with p = 0 hold next to nothing, and the
// average hardly shows by what they are divided (from two standard errors further below it does, but then Σ z² leaves
// its bounds once in 16 campaigns): replicates are compared with their definition one by one elsewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <random>

#include "infer/fit.hpp"
#include "oracle/examples.hpp"
#include "run/parallel.hpp"
#include "run/thread_runner.hpp"

namespace {

using namespace mckean;
using Eigen::VectorXd;
using Kind = EstimatorOptions::Kind;

constexpr int kLowest = 0, kHighest = 2;
constexpr std::uint64_t kSeeds = 20;
constexpr double kLeast = 5.398, kMost = 47.498;  // chi-square, 20 degrees of freedom: 0.0005 and 0.9995

// The maximum at level L in parameters that are measured from `origin`.
using Exact = std::function<oracle::Maximum(const Data&, const VectorXd& origin)>;

template <class Family>
Exact exact_by(const Family& family, const VectorXd& near) {
  return [=](const Data& data, const VectorXd& origin) {
    const auto moved = [&](const VectorXd& v) { return family(VectorXd(origin + v)); };
    return oracle::mle(moved, VectorXd(near - origin), data, kHighest);
  };
}

struct Setting {
  std::function<std::string(const std::vector<std::string>& origin)> model;  // its parameters start at 0
  Data data;
  Exact exact;
  VectorXd most_se;  // of a seed's average, in statistical standard errors
  Eigen::Index parameters = 1;
  double distance = 0.3;  // of the start from the maximum, in statistical standard errors
  double n0 = 1;
  int most_p = 6, law_particles = 400;
  std::size_t chains = 600, replicates = 200;  // for the bias; of each seed
};

struct Ready {
  Model model;
  Data data;
  oracle::Maximum exact;
  EstimatorOptions options;
};

Ready prepare(const Setting& setting) {
  const auto natural = setting.exact(setting.data, VectorXd::Zero(setting.parameters));
  const VectorXd origin = natural.theta - setting.distance * natural.standard_error;
  std::vector<std::string> numbers;
  for (const double o : origin) numbers.push_back(fmt::format("{}", o));
  Ready ready{
      parse_model(setting.model(numbers), "setting.toml"), setting.data, setting.exact(setting.data, origin), {}};
  EXPECT_TRUE(natural.converged && ready.exact.converged);
  ready.data.columns = ready.model.columns();
  EstimatorOptions& o = ready.options;
  o.lowest = kLowest, o.highest = kHighest, o.most_p = setting.most_p;
  o.iterations = std::size_t{1} << setting.most_p;  // of single chains: T_pmax
  o.particles = Rule("20", "M");
  o.law_particles = Rule(std::to_string(setting.law_particles), "N");
  o.chain.smoother = Smoother::genealogy;
  o.chain.start = ready.model.start_values();
  return ready;
}

EstimatorOptions as(EstimatorOptions options, Kind kind, std::uint64_t seed) {
  options.kind = kind, options.seed = seed;
  return options;
}

// What was measured, for --gtest_output.
void report(const Ready& ready, std::size_t parameter, const std::string& what, const std::string& value) {
  testing::Test::RecordProperty(ready.model.parameters()[parameter].name + ": " + what, value);
}

// |bias| of single chains, with twice its own error, below a tenth of the standard error of a seed's average (the root
// of the mean variance).
void expect_little_bias(const Ready& ready, const EstimateSummary& chains, const std::vector<EstimateSummary>& seeds) {
  for (std::size_t p = 0; p < chains.value.size(); ++p) {
    const double bias = chains.value[p] - ready.exact.theta[static_cast<Eigen::Index>(p)];
    double variance = 0;
    for (const auto& s : seeds) variance += s.mc_se[p] * s.mc_se[p] / kSeeds;
    EXPECT_LT(std::abs(bias) + 2 * chains.mc_se[p], 0.1 * std::sqrt(variance))
        << p << ": bias " << bias << ", its error " << chains.mc_se[p];
    report(ready, p, "bias", fmt::format("{:.4f} +- {:.4f} for {:.4f}", bias, chains.mc_se[p], std::sqrt(variance)));
  }
}

void expect_honest(const Ready& ready, const std::vector<EstimateSummary>& seeds, const VectorXd& most_se) {
  for (std::size_t p = 0; p < ready.model.parameters().size(); ++p) {
    double squares = 0, distance = 0, variance = 0;
    for (const auto& s : seeds) {
      const double error = s.value[p] - ready.exact.theta[static_cast<Eigen::Index>(p)];
      squares += std::pow(error / s.mc_se[p], 2);
      distance += error, variance += s.mc_se[p] * s.mc_se[p];
    }
    EXPECT_GT(squares, kLeast) << p;
    EXPECT_LT(squares, kMost) << p;
    EXPECT_LT(std::abs(distance), 4 * std::sqrt(variance)) << p;
    const auto i = static_cast<Eigen::Index>(p);
    EXPECT_LE(std::sqrt(variance / kSeeds), most_se[i] * ready.exact.standard_error[i]) << p;
    report(ready, p, "z", fmt::format("{:.1f}, all {:.2f}", squares, distance / std::sqrt(variance)));
  }
}

// How often Σ z² leaves its bounds where replicates are drawn from those found and their mean is the truth.
double false_alarms(const std::vector<Replicate>& all, std::size_t parameter) {
  constexpr std::size_t campaigns = 10000;
  std::vector<double> values;
  double mean = 0;
  for (const auto& r : all)
    values.push_back(r.estimate[parameter]), mean += values.back() / static_cast<double>(all.size());
  for (double& v : values) v -= mean;
  const std::size_t n = all.size() / kSeeds;
  std::mt19937_64 bits(parameter);
  std::size_t outside = 0;
  for (std::size_t c = 0; c < campaigns; ++c) {
    double squares = 0;
    for (std::size_t seed = 0; seed < kSeeds; ++seed) {
      double sum = 0, square = 0;
      for (std::size_t i = 0; i < n; i += 2) {  // two indices from 64 bits
        const std::uint64_t b = bits();
        for (const std::uint64_t half : {b >> 32, b & 0xffffffffu}) {
          const double v = values[(half * values.size()) >> 32];
          sum += v, square += v * v;
        }
      }
      const auto count = static_cast<double>(n);
      squares += sum * sum / count / ((square - sum * sum / count) / (count - 1));
    }
    outside += squares < kLeast || squares > kMost ? 1 : 0;
  }
  return static_cast<double>(outside) / campaigns;
}

std::vector<Replicate> replicates(const ParticleProblem& problem, const EstimatorOptions& options, std::size_t count) {
  const MultilevelEstimator estimator(problem, options);
  std::vector<Replicate> all(count);
  parallel_for(count, all_cores(), [&](std::size_t r) { all[r] = estimator(static_cast<std::uint32_t>(r)); });
  return all;
}

// Steps 1 / (n0 + n) times the inverse of the exact observed information at the maximum, in unconstrained coordinates.
void expect_exact_maximum(const Setting& setting) {
  Ready ready = prepare(setting);
  const std::vector<double> theta(ready.exact.theta.begin(), ready.exact.theta.end());
  ready.options.chain.step = {.gamma = 1, .n0 = setting.n0, .rho = 1};
  ready.options.chain.precondition = unconstrained_information(ready.model, theta, ready.exact.information).inverse();
  const ParticleProblem problem({ready.model, ready.data}, kHighest, 1);
  std::vector<Replicate> all;
  std::vector<EstimateSummary> seeds;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto some = replicates(problem, as(ready.options, Kind::paper, seed), setting.replicates);
    seeds.push_back(summarise(std::span<const Replicate>(some)));
    all.insert(all.end(), some.begin(), some.end());
  }
  const auto chains = replicates(problem, as(ready.options, Kind::single, kSeeds + 1), setting.chains);
  expect_little_bias(ready, summarise(std::span<const Replicate>(chains)), seeds);
  expect_honest(ready, seeds, setting.most_se);
  for (std::size_t p = 0; p < theta.size(); ++p) {
    const double rate = false_alarms(all, p);
    EXPECT_LT(rate, 0.004) << p;
    report(ready, p, "false alarms", fmt::format("{}", rate));
  }
}

// As the command does it: steps n^-0.7 times the inverse of the complete-data information that each fit finds.
void expect_exact_maximum_by_fit(const Setting& setting) {
  Ready ready = prepare(setting);
  const Problem problem(ready.model, ready.data);
  ThreadRunner runner(all_cores());
  FitObserver nobody;
  const auto fitted = [&](Kind kind, std::uint64_t seed, std::size_t count) {
    FitPlan options;
    options.estimator = kind == Kind::paper ? Estimator::paper : Estimator::single;
    options.replicated = as(ready.options, kind, seed);
    options.replicates = count, options.seed = seed;
    const FitResult found = fit(problem, options, runner, nobody);
    EstimateSummary summary;
    summary.value = found.value, summary.mc_se = found.mc_se;
    return summary;
  };
  std::vector<EstimateSummary> seeds;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) seeds.push_back(fitted(Kind::paper, seed, setting.replicates));
  expect_little_bias(ready, fitted(Kind::single, kSeeds + 1, setting.chains), seeds);
  expect_honest(ready, seeds, setting.most_se);
}

Setting mean_field_ou() {
  const auto family = [](const VectorXd& v) { return oracle::mean_field_ou({v[0], v[1], 0.2, 0.04}); };
  return {.model =
              [](const auto& origin) {
                return fmt::format(R"toml(
[state]
x = 0
[parameters]
kappa = {{ start = 0, lower = -{0} }}
mu = 0
[interaction]
m = "x'"
[drift]
x = "({0} + kappa)*({1} + mu - x) + 0.2*(m - x)"
[diffusion]
x = 1
[observation]
y = "normal(x, 0.2)"
)toml",
                                   origin[0], origin[1]);
              },
          .data = oracle::simulate(oracle::scalar_ou({0.4, 6, 0.2, 0.04}), {.T = 6, .tau = 0.2, .count = 8}),
          .exact = exact_by(family, VectorXd{{0.4, 6}}),
          .most_se = VectorXd{{0.27, 0.26}},
          .parameters = 2,
          .n0 = 2,
          .most_p = 7,
          .law_particles = 800};
}

TEST(PaperEstimator, MeanFieldOu) { expect_exact_maximum(mean_field_ou()); }

TEST(PaperEstimator, MeanFieldOuByTheScaleThatAFitFinds) {
  Setting setting = mean_field_ou();
  setting.replicates = 100;
  setting.most_se = VectorXd{{0.96, 1.04}};
  expect_exact_maximum_by_fit(setting);
}

// Bounds on one side and on both, and the variance of the observations.
TEST(PaperEstimator, MeanFieldOuThreeParametersWithBounds) {
  const auto family = [](const VectorXd& v) {
    return oracle::mean_field_ou({.kappa = v[0], .mu = v[1], .beta = 0.3, .R = v[2], .s = 0.5});
  };
  expect_exact_maximum(
      {.model =
           [](const auto& origin) {
             return fmt::format(R"toml(
[state]
x = 0
[parameters]
kappa = {{ start = 0, lower = -{0}, upper = 2 }}
mu = 0
R = {{ start = 0, lower = -{2} }}
[interaction]
m = "x'"
[drift]
x = "({0} + kappa)*({1} + mu - x) + 0.3*(m - x)"
[diffusion]
x = 0.5
[observation]
y = "normal(x, sqrt({2} + R))"
)toml",
                                origin[0], origin[1], origin[2]);
           },
       .data = oracle::simulate(oracle::scalar_ou({.kappa = 0.6, .mu = 4, .beta = 0.3, .R = 1, .s = 0.5}),
                                {.T = 6, .tau = 1, .count = 12}),
       .exact = exact_by(family, VectorXd{{0.6, 4, 1}}),
       .most_se = VectorXd{{0.76, 0.65, 0.27}},
       .parameters = 3,
       .n0 = 8,
       .most_p = 7,
       .law_particles = 800,
       .replicates = 100});
}

// Without an interaction: the unbiased estimator for ordinary diffusions.
TEST(PaperEstimator, OrdinaryDiffusionWithUnknownObservationVariance) {
  const auto family = [](const VectorXd& v) {
    return oracle::mean_field_ou({.kappa = 0.6, .mu = v[0], .beta = 0, .R = v[1], .s = 0.5, .x0 = 4, .sd0 = 1});
  };
  expect_exact_maximum({.model =
                            [](const auto& origin) {
                              return fmt::format(R"toml(
[state]
x = "normal(4, 1)"
[parameters]
mu = 0
R = {{ start = 0, lower = -{1} }}
[drift]
x = "0.6*({0} + mu - x)"
[diffusion]
x = 0.5
[observation]
y = "normal(x, sqrt({1} + R))"
)toml",
                                                 origin[0], origin[1]);
                            },
                        .data = oracle::simulate(
                            oracle::scalar_ou({.kappa = 0.6, .mu = 5, .beta = 0, .R = 1, .s = 0.5, .x0 = 4, .sd0 = 1}),
                            {.T = 6, .tau = 1, .count = 12}),
                        .exact = exact_by(family, VectorXd{{5, 1}}),
                        .most_se = VectorXd{{0.35, 0.205}},
                        .parameters = 2,
                        .distance = 0.2,
                        .n0 = 8,
                        .most_p = 7});
}

void expect_exact_kuramoto(double K) {
  const auto family = [K](const VectorXd& v) { return oracle::kuramoto({.theta = v[0], .K = K, .tau = 0.1}); };
  expect_exact_maximum({.model =
                            [K](const auto& origin) {
                              return fmt::format(R"toml(
[state]
x = 1.5
[parameters]
theta = 0
[interaction]
pull = "sin(x - x')"
[drift]
x = "{} + theta + {}*pull"
[diffusion]
x = 0.15
[observation]
y = "normal(x, 0.1)"
)toml",
                                                 origin[0], K);
                            },
                        .data = oracle::simulate(family(VectorXd{{0.5}}), {.T = 6, .tau = 0.1}),
                        .exact = exact_by(family, VectorXd{{0.5}}),
                        .most_se = VectorXd{{K > 0 ? 0.7 : 0.41}}});
}

TEST(PaperEstimator, KuramotoAsPrinted) { expect_exact_kuramoto(1); }

TEST(PaperEstimator, KuramotoThatSynchronises) { expect_exact_kuramoto(-1); }

TEST(PaperEstimator, NeuralInOneDimension) {
  const auto family = [](const VectorXd& v) { return oracle::neural({.alpha = v[0], .beta = v[1]}); };
  expect_exact_maximum({.model =
                            [](const auto& origin) {
                              return fmt::format(R"toml(
[state]
x = 1
[parameters]
alpha = 0
beta = 0
[interaction]
fbar = "sigmoid(x')"
[drift]
x = "({} + alpha)*(fbar - sigmoid(x)) - ({} + beta)*x"
[diffusion]
x = 0.15
[observation]
y = "normal(x, 0.15)"
)toml",
                                                 origin[0], origin[1]);
                            },
                        .data = oracle::simulate(family(VectorXd{{0.5, 0.35}}), {.T = 6, .tau = 0.15, .count = 8}),
                        .exact = exact_by(family, VectorXd{{0.5, 0.35}}),
                        .most_se = VectorXd{{0.46, 0.54}},
                        .parameters = 2});
}
}  // namespace
