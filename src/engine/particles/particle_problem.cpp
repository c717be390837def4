#include "engine/particles/particle_problem.hpp"

namespace mckean {

ParticleProblem::ParticleProblem(Problem problem, int rank_level, std::uint64_t seed) : problem_(std::move(problem)) {
  const auto& ranks = system().ranks();
  // The laws of filters are many and small: cells cost more before their first step than they save.
  if (system().dynamics(Scheme::euler, ranks.front(), false)->cells) {
    first_rank_ = ranks.size() - 1;
    return;
  }
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  first_rank_ = find_rank(system(), schedule(rank_level).grid, model().start_values(), noise, {.particles = 256});
}
}  // namespace mckean
