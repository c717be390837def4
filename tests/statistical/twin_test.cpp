// The coupled iteration against the plain double loop that the benchmark uses as its yardstick: an independent program
// of the same algorithm with the same small N and M. Means over independent iterations from the first path; |z| < 4 for
// a difference of means fails a correct program once in 16000, for the six comparisons here once in 2600.
#include <gtest/gtest.h>

#include "../../bench/plain_kuramoto.hpp"
#include "engine/particles/kernel.hpp"
#include "engine/particles/score.hpp"
#include "models.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;

struct Statistics {
  std::vector<double> path, path_difference, square_difference, score, score_difference, middle;
  void add(double fine, double coarse, double half, double h, double coarse_h) {
    path.push_back(fine), path_difference.push_back(fine - coarse);
    square_difference.push_back((fine - coarse) * (fine - coarse));
    middle.push_back(half), score.push_back(h), score_difference.push_back(h - coarse_h);
  }
};

TEST(PlainTwin, OneCoupledIterationHasTheSameLaw) {
  const std::vector<double> y{1.2, 2.6, 2.1, 3.9, 4.2, 3.1};
  const int level = 2, T = 6;
  const std::size_t M = 8, N = 10;
  const double theta = 0.5, coarse_theta = 0.4;
  Statistics plain_side, ours;
  plain::Kuramoto twin({level, T, M, N}, y, 3);
  for (int r = 0; r < 6000; ++r) {
    const auto paths = twin.kernel(twin.first(theta), theta, coarse_theta);
    const auto [h, coarse_h] = twin.scores(paths, theta, coarse_theta);
    plain_side.add(paths.fine.back(), paths.coarse.back(), paths.fine[paths.fine.size() / 2], h, coarse_h);
  }

  const Model model = tests::shipped("kuramoto", {{"theta", theta}});
  Data data{"twin", model.columns(), {{"", {1, 2, 3, 4, 5, 6}, y, {1, 2, 3, 4, 5, 6}}}};
  const System system(model);
  const Observation observation(model);
  const Schedule fine(data, level, 0), coarse(data, level - 1, 0);
  CoupledFilter filter(system, observation, fine, coarse, {.particles = M, .smoother = Smoother::genealogy});
  const ObservationScore observation_score(model);
  Score score(system, observation_score, fine), coarse_score(system, observation_score, coarse);
  const std::vector<double> at{theta}, coarse_at{coarse_theta};
  score.set_parameters(at), coarse_score.set_parameters(coarse_at);
  for (std::uint32_t r = 0; r < 6000; ++r) {
    const auto laws = [&](std::uint32_t n, std::span<const double> second, Derivative d) {
      return draw_coupled_laws(system, {fine.grid, at}, {coarse.grid, second},
                               {{1, r, n, Purpose::law_start}, {1, r, n, Purpose::law}},
                               {.particles = N, .derivative = d}, N);
    };
    const auto first = laws(0, at, Derivative::none), second = laws(1, coarse_at, Derivative::none);
    filter.set_laws(first.first, first.second, at, at);
    auto paths = filter.first_paths(0, {1, r, 0}).value();
    filter.set_laws(second.first, second.second, at, coarse_at);
    paths = filter.step(0, paths, {1, r, 1}).value();
    const auto third = laws(2, coarse_at, Derivative::finite_difference);
    PathScore h = score.zero(), coarse_h = h;
    ASSERT_EQ(score.add(0, paths.fine, third.first, h), LawStatus::good);
    ASSERT_EQ(coarse_score.add(0, paths.coarse, third.second, coarse_h), LawStatus::good);
    ours.add(paths.fine[0][fine.grid.steps()], paths.coarse[0][coarse.grid.steps()],
             paths.fine[0][fine.grid.steps() / 2], h.gradient[0], coarse_h.gradient[0]);
  }

  const auto expect_same = [](std::span<const double> one, std::span<const double> other, double most_se,
                              const char* what) {
    const tests::Estimate a = tests::mean_of(one), b = tests::mean_of(other);
    tests::expect_close({a.value, std::hypot(a.se, b.se)}, b.value, most_se, what);
  };
  expect_same(ours.path, plain_side.path, 0.024, "end of the fine path");
  expect_same(ours.middle, plain_side.middle, 0.013, "middle of the fine path");
  expect_same(ours.path_difference, plain_side.path_difference, 0.022, "difference of the paths' ends");
  expect_same(ours.square_difference, plain_side.square_difference, 0.047, "its square: the strength of the coupling");
  expect_same(ours.score, plain_side.score, 0.31, "score");
  expect_same(ours.score_difference, plain_side.score_difference, 0.43, "difference of the scores");
}
}  // namespace
