// From a poor start to the neighbourhood of the maximum.
#pragma once

#include "paper/probe.hpp"

namespace mckean {

struct Ascent {
  Eigen::VectorXd u;        // in unconstrained coordinates
  bool arrived = false;     // the last round moved no parameter by more than the noise
  int level = 0;            // at which the dynamics do not explode
  std::vector<bool> fixed;  // parameters that ran into a bound, and stay there
};

// Where a chain ended, on average; or that the dynamics exploded.
struct Climb {
  bool exploded = false;
  Eigen::VectorXd u;
  std::uint64_t particle_steps = 0;
};
constexpr auto record_of(const Climb*) {
  return record("chain of an ascent", &Climb::exploded, &Climb::u, &Climb::particle_steps);
}

Climb climb_once(const ParticleProblem&, const ChainOptions&, ChainIdentity, std::size_t iterations,
                 const std::vector<bool>& free);

// Stochastic EM: every iteration draws paths at the present θ and moves it by the inverse complete-data information
// times their score, which cannot overshoot where the likelihood is smooth, and hovers about the maximum within about a
// standard error. Rounds of short chains from their common mean, until a round moves no parameter beyond the noise
// between chains. `free[p]` false keeps a parameter at its start. Throws NumericalError where the data have no
// likelihood at the start.
Ascent climb(Workbench&, const std::string& group, const ChainOptions&, int level, int highest_level,
             std::vector<bool> free);
}  // namespace mckean
