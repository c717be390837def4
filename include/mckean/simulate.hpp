// Data and paths from a large system of interacting particles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mckean/data.hpp"
#include "mckean/model.hpp"
#include "mckean/scheme.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

struct SimulateOptions {
  int level = 6;
  Scheme scheme = Scheme::euler;
  std::size_t law_particles = 10000;  // of the system
  std::size_t series = 1;             // particles that are observed: the first ones of the system
  std::uint64_t seed = 1;
  double unit = 0;  // unit of time that a level splits; 0: the median spacing of the times
  bool full_precision = false;
};

// Called at every point of the grid with the columns of the state, one a component.
using PathObserver = std::function<void(double t, std::span<const double* const> columns)>;

// Observations at the given times (increasing, >= 0) with the parameters at theta. Throws NumericalError where a
// trajectory overflows, InputError where the model observes through a bare log density, which cannot be drawn from.
Data simulate(const Model&, std::span<const double> theta, std::span<const double> times, const SimulateOptions&,
              const PathObserver& = {});
// Throws what these do, where no simulation can begin.
void require_possible(const Model&, const SimulateOptions&);

// How the diffusion itself is simulated: steps are halved until that moves neither means nor standard deviations of
// the law at these times, and there are as many particles as the chance of the means takes. Errors are in standard
// deviations of the law (where it has none, in the size of its mean): root mean squares over the times, of the
// component that has the largest.
struct DiffusionSimulationOptions {
  double tolerance = 0.01;  // of the steps; that of chance is twice as large
  Scheme scheme = Scheme::splitting;
  std::size_t law_particles = 0;  // 0: to be chosen
  std::size_t series = 1;         // that are observed
  std::size_t shown = 0;          // particles whose paths are wanted
  std::uint64_t seed = 1;
  bool full_precision = false;
  double most_work = 5e9;  // particle-steps times their cost, after which it ends as it is
};
struct DiffusionSimulation {
  SimulateOptions settings;
  // By which the last doubling of the steps moved the law, and by which chance moves its means; none: not known.
  std::optional<double> steps, law;
  std::uint64_t particle_steps = 0;  // of what was tried
  bool reached = false;              // the tolerance, unless the particles were given
};
// Throws InputError, NumericalError, and Stopped.
DiffusionSimulation choose_simulation(const Model&, std::span<const double> theta, std::span<const double> times,
                                      const DiffusionSimulationOptions&, TaskRunner&);

// Data as CSV: t, the observed columns, and `series` where there are several.
std::string to_csv(const Data&);
}  // namespace mckean
