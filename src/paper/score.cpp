#include "mckean/score.hpp"

#include <cmath>

#include "paper/information.hpp"

namespace mckean {
namespace {

struct ChainScore {
  Eigen::VectorXd score;
  std::uint64_t particle_steps = 0;
};
constexpr auto record_of(const ChainScore*) {
  return record("score of a chain", &ChainScore::score, &ChainScore::particle_steps);
}
}  // namespace

ScoreEstimate estimate_score(const Problem& of, std::span<const double> theta, const ScoreOptions& o,
                             TaskRunner& runner) {
  const ParticleProblem problem(of, o.level, o.seed);
  const ChainOptions chain = held_chain(problem, theta, o, o.finite_difference);
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < o.chains; ++r) tasks.push_back({"score", r});
  const auto results = run_records(runner, tasks, [&](std::size_t r, std::stop_token stop) {
    ChainOptions mine = chain;
    mine.stop = std::move(stop);
    HeldMoments held = held_moments(problem, mine, {o.seed, static_cast<std::uint32_t>(r), o.level},
                                    {.iterations = o.iterations, .curvature = false});
    return ChainScore{std::move(held.score), held.particle_steps};
  });
  const auto n = static_cast<double>(o.chains);
  ScoreEstimate out;
  out.particles = chain.particles, out.law_particles = chain.law_particles;
  for (const ChainScore& r : results) out.particle_steps += r.particle_steps;
  for (Eigen::Index p = 0; p < results[0].score.size(); ++p) {
    double mean = 0, variance = 0;
    for (const ChainScore& r : results) mean += r.score[p] / n;
    for (const ChainScore& r : results) variance += (r.score[p] - mean) * (r.score[p] - mean) / ((n - 1) * n);
    out.value.push_back(mean), out.se.push_back(std::sqrt(variance));
  }
  return out;
}
}  // namespace mckean
