// What may be computed for a report. Work is counted in operations, fixed in advance and the same on every machine, so
// that the report of a run is always the same; one operation takes about a nanosecond.
#pragma once

#include <optional>

#include "engine/particles/particle_problem.hpp"

namespace mckean::report {

inline constexpr double kSmoothingWork = 2e9, kLikelihoodWork = 2e9, kFilterWork = 2e10, kLawWork = 5e8,
                        kTraceWork = 3e9;

// Operations of one step of one particle.
class Work {
 public:
  Work(const ParticleProblem&, Scheme, bool tangents);
  double law(std::size_t law_particles) const;     // of a law of so many
  double filter(std::size_t law_particles) const;  // of one that reads such a law
  // One iteration of a chain over the whole grid of a level.
  double iteration(const ParticleProblem&, Steps, std::size_t particles, std::size_t law_particles) const;

 private:
  double law_ = 0, filter_ = 0, law_pair_ = 0, filter_pair_ = 0;
};

struct SmoothingPlan {
  Steps steps;
  std::size_t particles, law_particles, iterations;
  std::size_t chains = 4, burn_in = 15;
};
// As near to the run's own numbers as can be afforded; nothing where even the coarsest is too much.
std::optional<SmoothingPlan> plan_smoothing(const ParticleProblem&, Steps, std::size_t particles,
                                            std::size_t law_particles);
}  // namespace mckean::report
