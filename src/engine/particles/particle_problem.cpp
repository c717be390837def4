#include "engine/particles/particle_problem.hpp"

namespace mckean {
namespace {
constexpr int kMostFiner = 6;  // levels at which the rank is sought; the first is taken where all explode
}  // namespace

ParticleProblem::ParticleProblem(Problem problem, int rank_level, std::uint64_t seed) : problem_(std::move(problem)) {
  const auto& ranks = system().ranks();
  // The laws of filters are many and small: cells cost more before their first step than they save.
  if (system().dynamics(Scheme::euler, ranks.front(), false)->cells) {
    first_rank_ = ranks.size() - 1;
    return;
  }
  bool found = false;
  for (int level = rank_level; level <= rank_level + kMostFiner && !found; ++level) found = finds_rank(level, seed);
}

// False where Euler's steps of a level are too long.
bool ParticleProblem::finds_rank(int level, std::uint64_t seed) {
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  try {
    first_rank_ = find_rank(system(), schedule(level).grid, model().start_values(), noise, {.particles = 256});
    return true;
  } catch (const Explosion&) {
    return false;
  }
}
}  // namespace mckean
