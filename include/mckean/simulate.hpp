// Data and paths from a large system of interacting particles.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mckean/data.hpp"
#include "mckean/model.hpp"

namespace mckean {

struct SimulateOptions {
  int level = 6;
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

// Data as CSV: t, the observed columns, and `series` where there are several.
std::string to_csv(const Data&);
}  // namespace mckean
