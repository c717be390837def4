// The smoother's kernels against the exact smoother of the linear model. Chains with backward sampling forget quickly;
// standard errors come from batch means, so that a comparison at |z| > 4 fails a correct program about once in 2000
// (t with 24 degrees of freedom); seeds are fixed.
#include "engine/particles/kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/particles/score.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;

// Mean and its standard error from 25 batches.
struct Batches {
  std::vector<double> values;
  void add(double v) { values.push_back(v); }
  double mean() const {
    double s = 0;
    for (const double v : values) s += v;
    return s / static_cast<double>(values.size());
  }
  double se() const {
    constexpr std::size_t batches = 25;
    const std::size_t size = values.size() / batches;
    double sum = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      double m = 0;
      for (std::size_t i = 0; i < size; ++i) m += values[b * size + i] / static_cast<double>(size);
      sum += std::pow(m - mean(), 2);
    }
    return std::sqrt(sum / (batches - 1) / batches);
  }
};

void expect_close(const Batches& b, double exact, double most_se, const std::string& what) {
  tests::expect_close({b.mean(), b.se()}, exact, most_se, what);
}

struct Setting {
  Smoother smoother;
  std::size_t particles, iterations;
};

class SmootherTest : public testing::Test {
 protected:
  static constexpr double kappa = 0.8, mu = 6.5, beta = 0.6, R = 0.7;
  SmootherTest()
      : model(tests::shipped("mean-field-ou", {{"kappa", kappa}, {"mu", mu}, {"beta", beta}, {"R", R}})),
        data(oracle::simulate(oracle::scalar_ou({kappa, mu, beta, R}), {.T = 10, .tau = std::sqrt(R)})),
        system(model),
        observation(model),
        theta(model.start_values()) {
    data.columns = model.columns();
    data.series[0].values[3] = std::nan("");  // one value is missing
  }

  LawNoise law_noise(std::uint32_t n) const { return {{3, 0, n, Purpose::law_start}, {3, 0, n, Purpose::law}}; }

  Model model;
  Data data;
  System system;
  Observation observation;
  std::vector<double> theta;
};

TEST_F(SmootherTest, ChainReproducesSmoothingMeansAndVariances) {
  for (const Setting& s : {Setting{Smoother::backward, 20, 4000}, Setting{Smoother::genealogy, 100, 4000}}) {
    const int level = 2;
    const Schedule schedule(data, level, 0);
    const auto exact = oracle::smooth(oracle::mean_field_ou({kappa, mu, beta, R}), data, level)[0];
    ConditionalFilter filter(system, observation, schedule, {.particles = s.particles, .smoother = s.smoother});
    const LawPath law = draw_law(system, schedule.grid, theta, law_noise(0), {.particles = 400000});
    filter.set_law(law, theta);
    Path path = filter.first_path(0, {1, 0, 0}).value();
    std::vector<Batches> first(schedule.grid.steps() + 1), second(schedule.grid.steps() + 1);
    for (std::size_t n = 1; n <= s.iterations + 100; ++n) {
      path = filter.step(0, path, {1, 0, static_cast<std::uint32_t>(n)}).value();
      for (std::size_t k = 0; n > 100 && k < first.size(); ++k) {
        first[k].add(path[0][k]);
        second[k].add(std::pow(path[0][k] - exact.mean[k](0), 2));
      }
    }
    for (std::size_t k = 1; k < first.size(); k += 3) {
      const std::string where =
          "level 2, point " + std::to_string(k) + (s.smoother == Smoother::backward ? " backward" : " genealogy");
      expect_close(first[k], exact.mean[k](0), 0.0165, "mean at " + where);
      expect_close(second[k], exact.covariance[k](0, 0), 0.016, "variance at " + where);
    }
  }
}

// A path from the exact smoother, backwards: X_K, then X_k given X_{k+1}.
Path exact_path(const oracle::Smoothed& smoothed, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const std::size_t last = smoothed.mean.size() - 1;
  Path path(1, last + 1);
  path[0][last] = smoothed.mean[last](0) + std::sqrt(smoothed.covariance[last](0, 0)) * normal(random);
  for (std::size_t k = last; k-- > 0;) {
    const double gain = smoothed.lag_one[k](0, 0) / smoothed.covariance[k + 1](0, 0);
    const double variance = std::max(0.0, smoothed.covariance[k](0, 0) - gain * smoothed.lag_one[k](0, 0));
    path[0][k] =
        smoothed.mean[k](0) + gain * (path[0][k + 1] - smoothed.mean[k + 1](0)) + std::sqrt(variance) * normal(random);
  }
  return path;
}

// Independent exact paths, one step of the kernel each: means, variances and covariances of neighbours stay exact. Few
// particles, so that a kernel that is only nearly invariant would show.
TEST_F(SmootherTest, OneStepLeavesTheExactSmootherInvariant) {
  const int level = 2;
  const Schedule schedule(data, level, 0);
  const auto exact = oracle::smooth(oracle::mean_field_ou({kappa, mu, beta, R}), data, level)[0];
  const LawPath law = draw_law(system, schedule.grid, theta, law_noise(0), {.particles = 400000});
  struct Kind {
    Smoother smoother;
    std::optional<AheadOptions> ahead;
  };
  for (const auto& [smoother, ahead] :
       {Kind{Smoother::backward, {}}, Kind{Smoother::genealogy, {}}, Kind{Smoother::backward, AheadOptions{}},
        Kind{Smoother::genealogy, AheadOptions{.widening = 2.5}}}) {
    ConditionalFilter filter(system, observation, schedule, {.particles = 4, .smoother = smoother, .ahead = ahead});
    filter.set_law(law, theta);
    std::mt19937_64 random(17);
    const std::size_t points = schedule.grid.steps() + 1;
    std::vector<Batches> mean(points), variance(points), neighbours(points);
    for (std::uint32_t n = 0; n < 20000; ++n) {
      const Path path = filter.step(0, exact_path(exact, random), {1, 0, n}).value();
      for (std::size_t k = 1; k < points; ++k) {
        const double x = path[0][k] - exact.mean[k](0), before = path[0][k - 1] - exact.mean[k - 1](0);
        mean[k].add(x), variance[k].add(x * x), neighbours[k].add(x * before);
      }
    }
    for (std::size_t k = 1; k < points; k += 2) {
      const std::string where = std::to_string(k) + (smoother == Smoother::backward ? " backward" : " genealogy") +
                                (ahead ? ", looking ahead" : "");
      expect_close(mean[k], 0, 0.0076, "mean at " + where);
      expect_close(variance[k], exact.covariance[k](0, 0), 0.0082, "variance at " + where);
      if (k > 1) expect_close(neighbours[k], exact.lag_one[k - 1](0, 0), 0.0068, "covariance at " + where);
    }
  }
}

TEST_F(SmootherTest, EachMarginOfTheCoupledKernelIsExact) {
  for (const Setting& s : {Setting{Smoother::backward, 20, 3000}, Setting{Smoother::genealogy, 60, 3000}}) {
    const Schedule fine(data, 3, 0), coarse(data, 2, 0);
    const oracle::LinearModel upper = oracle::mean_field_ou({kappa, mu, beta, R}),
                              lower = oracle::mean_field_ou({0.7, mu, beta, R});
    std::vector<double> other = theta;
    other[0] = 0.7;
    const auto [law, coarse_law] = draw_coupled_laws(system, {fine.grid, theta}, {coarse.grid, other}, law_noise(0),
                                                     {.particles = 200000}, 200000);
    CoupledFilter filter(system, observation, fine, coarse, {.particles = s.particles, .smoother = s.smoother});
    filter.set_laws(law, coarse_law, theta, other);
    auto paths = filter.first_paths(0, {1, 0, 0}).value();
    const auto exact = oracle::smooth(upper, data, 3)[0], exact_coarse = oracle::smooth(lower, data, 2)[0];
    std::vector<Batches> a(fine.grid.steps() + 1), b(coarse.grid.steps() + 1), a2 = a, b2 = b;
    for (std::size_t n = 1; n <= s.iterations + 100; ++n) {
      paths = filter.step(0, paths, {1, 0, static_cast<std::uint32_t>(n)}).value();
      if (n <= 100) continue;
      for (std::size_t k = 0; k < a.size(); ++k)
        a[k].add(paths.fine[0][k]), a2[k].add(std::pow(paths.fine[0][k] - exact.mean[k](0), 2));
      for (std::size_t k = 0; k < b.size(); ++k)
        b[k].add(paths.coarse[0][k]), b2[k].add(std::pow(paths.coarse[0][k] - exact_coarse.mean[k](0), 2));
    }
    for (std::size_t k = 1; k < a.size(); k += 7) {
      expect_close(a[k], exact.mean[k](0), 0.02, "fine mean at " + std::to_string(k));
      expect_close(a2[k], exact.covariance[k](0, 0), 0.018, "fine variance at " + std::to_string(k));
    }
    for (std::size_t k = 1; k < b.size(); k += 5) {
      expect_close(b[k], exact_coarse.mean[k](0), 0.021, "coarse mean at " + std::to_string(k));
      expect_close(b2[k], exact_coarse.covariance[k](0, 0), 0.018, "coarse variance at " + std::to_string(k));
    }
  }
}

TEST_F(SmootherTest, ScoreIsTheExactOne) {
  const oracle::LinearFamily family = [](const Eigen::VectorXd& v) {
    return oracle::mean_field_ou({v[0], v[1], v[2], v[3]});
  };
  const Eigen::VectorXd at{{kappa, mu, beta, R}};
  for (const int level : {1, 3}) {
    const Schedule schedule(data, level, 0);
    const auto exact = oracle::score(family, at, data, level), frozen = oracle::frozen_score(family, at, data, level);
    ConditionalFilter filter(system, observation, schedule, {.particles = 20});
    const ObservationScore observation_score(model);
    Score score(system, observation_score, schedule);
    score.set_parameters(theta);
    const LawPath first = draw_law(system, schedule.grid, theta, law_noise(0), {.particles = 1000});
    filter.set_law(first, theta);
    Path path = filter.first_path(0, {1, 0, 0}).value();
    std::vector<Batches> found(4);
    for (std::uint32_t n = 1; n <= 5050; ++n) {
      const LawPath law = draw_law(system, schedule.grid, theta, law_noise(2 * n), {.particles = 1000});
      filter.set_law(law, theta);
      path = filter.step(0, path, {1, 0, n}).value();
      const LawPath fresh = draw_law(system, schedule.grid, theta, law_noise(2 * n + 1),
                                     {.particles = 1000, .derivative = Derivative::tangent});
      PathScore h = score.zero();
      ASSERT_EQ(score.add(0, path, fresh, h), LawStatus::good);
      if (n <= 50) continue;
      for (std::size_t p = 0; p < 4; ++p) found[p].add(h.gradient[p]);
    }
    const double most_se[] = {0.16, 0.09, 0.044, 0.054};
    for (std::size_t p = 0; p < 4; ++p)
      expect_close(found[p], exact[static_cast<Eigen::Index>(p)], most_se[p], "score " + std::to_string(p));
    // Forgetting the law's own dependence on theta would be seen.
    EXPECT_GT(std::abs(found[1].mean() - frozen[1]), 8 * found[1].se());
  }
}
}  // namespace
