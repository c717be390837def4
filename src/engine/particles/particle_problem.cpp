#include "engine/particles/particle_problem.hpp"

namespace mckean {

ParticleProblem::ParticleProblem(Problem problem, int rank_level, std::uint64_t seed) : problem_(std::move(problem)) {
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  first_rank_ = find_rank(system(), schedule(rank_level).grid, model().start_values(), noise,
                          {.particles = 256, .cells = CellChoice::always});
}
}  // namespace mckean
