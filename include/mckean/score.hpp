// The gradient of the log-likelihood, by chains of smoothed paths.
#pragma once

#include "mckean/smooth.hpp"

namespace mckean {

struct ScoreOptions : SmoothOptions {
  bool finite_difference = false;  // the paper's derivative of the law, in place of its tangent
};

struct ScoreEstimate {
  std::vector<double> value, se;  // of each parameter; errors from the spread of the chains
  std::size_t particles = 0, law_particles = 0;
  std::uint64_t particle_steps = 0;
};

// The score of the diffusion itself: splitting steps, particles and their proposal are those of its log-likelihood,
// chains and finer steps are added until the score is known as well as asked for. Errors are in square roots of the
// information of each parameter, in which a maximum moves by a standard error: of the parameter that has the largest.
struct DiffusionScoreOptions {
  double tolerance = 0.1;  // of steps and draws together
  std::uint64_t seed = 1;
  bool full_precision = false;
  double most_work = 2e10;  // particle-steps times their cost, after which it ends as it is
};
struct DiffusionScore {
  ScoreEstimate estimate;
  Effort effort;
  Smoother smoother = Smoother::backward;
  std::size_t chains = 0, iterations = 0, burn_in = 0;
  std::vector<double> units;    // these square roots
  std::optional<double> steps;  // by which the last doubling of the steps moved the score; none: not known
  double draws = 0;             // Monte Carlo error
  bool reached = false;         // the tolerance
};
// Splitting steps have no score of paths where a component without noise moves with a parameter, as the position of a
// kinetic model does.
bool has_diffusion_score(const Problem&);
// Where it has one, at θ. Throws NumericalError, and Stopped.
DiffusionScore diffusion_score(const Problem&, std::span<const double> theta, const DiffusionScoreOptions&,
                               TaskRunner&);

// At θ, by Euler's steps. Takes at least two chains. Throws InputError, NumericalError, and Stopped.
ScoreEstimate estimate_score(const Problem&, std::span<const double> theta, const ScoreOptions&, TaskRunner&);
}  // namespace mckean
