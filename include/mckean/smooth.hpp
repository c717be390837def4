// The state given the data, by chains of smoothed paths.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mckean/engine.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

// Where new ancestors come from: backward, by their density; genealogy, as in the paper, from the filter's own.
enum class Smoother { backward, genealogy };

// Backward sampling needs noise in every component: elsewhere a new ancestor has density zero.
bool can_sample_backward(const Model&);
// Backward where that can be, unless told. Throws InputError where it is asked for and cannot be.
Smoother smoother_for(const Model&, std::optional<Smoother> wanted);

// Chains of paths at fixed parameters.
struct SmoothOptions {
  int level = 5;
  // M of the smoother and N of the law: numbers, or rules of l, L (here the same) and T such as "10*l".
  std::string particles = "100", law_particles = "500";
  std::size_t iterations = 500, burn_in = 20, chains = 8;
  std::optional<Smoother> smoother = {};  // backward where that can be, unless told
  std::uint64_t seed = 1;
  bool full_precision = false;  // 64-bit normals
};

struct SmoothedStates {
  States at;
  std::size_t particles = 0, law_particles = 0;
  std::uint64_t particle_steps = 0;
};
// At θ. Throws InputError, NumericalError, and Stopped.
SmoothedStates smooth(const Problem&, std::span<const double> theta, const SmoothOptions&, TaskRunner&);

// The state of the diffusion itself: steps, particles and their proposal are those of its log-likelihood, chains and
// finer steps are added until the means are known as well as asked for. Errors are in standard deviations of the
// smoothed state: root mean squares over all times, of the component that has the largest.
struct DiffusionSmoothingOptions {
  double tolerance = 0.1;  // of steps and draws together
  std::uint64_t seed = 1;
  bool full_precision = false;
  double most_work = 1e10;  // particle-steps times their cost, after which it ends as it is
};
struct DiffusionSmoothing {
  SmoothedStates states;
  Effort effort;
  Smoother smoother = Smoother::backward;
  std::size_t chains = 0, iterations = 0, burn_in = 0;
  std::optional<double> steps;  // by which the last doubling of the steps moved the means; none: not known
  double draws = 0;             // Monte Carlo error
  bool reached = false;         // the tolerance
};
DiffusionSmoothing smooth_diffusion(const Problem&, std::span<const double> theta, const DiffusionSmoothingOptions&,
                                    TaskRunner&);
}  // namespace mckean
