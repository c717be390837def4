#include "mckean/score.hpp"

#include <cmath>

#include "paper/information.hpp"

namespace mckean {

// The result of a task: particle-steps, then the score.
ScoreEstimate estimate_score(const Problem& of, std::span<const double> theta, const ScoreOptions& o,
                             TaskRunner& runner) {
  const ParticleProblem problem(of, o.level, o.seed);
  const ChainOptions chain = held_chain(problem, theta, o, o.finite_difference);
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < o.chains; ++r) tasks.push_back({"score", r});
  const auto results = runner.run(tasks, [&](std::size_t r, std::stop_token stop) {
    ChainOptions mine = chain;
    mine.stop = std::move(stop);
    const HeldMoments held = hold(problem, mine, {o.seed, static_cast<std::uint32_t>(r), o.level},
                                  {.iterations = o.iterations, .curvature = false});
    std::vector<double> out{static_cast<double>(held.particle_steps)};
    out.insert(out.end(), held.score.begin(), held.score.end());
    return out;
  });
  const auto n = static_cast<double>(o.chains);
  ScoreEstimate out;
  out.particles = chain.particles, out.law_particles = chain.law_particles;
  for (const auto& r : results) out.particle_steps += static_cast<std::uint64_t>(r[0]);
  for (std::size_t p = 1; p < results[0].size(); ++p) {
    double mean = 0, variance = 0;
    for (const auto& r : results) mean += r[p] / n;
    for (const auto& r : results) variance += (r[p] - mean) * (r[p] - mean) / ((n - 1) * n);
    out.value.push_back(mean), out.se.push_back(std::sqrt(variance));
  }
  return out;
}
}  // namespace mckean
