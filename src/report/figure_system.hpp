// A particle system over time, seen at regular moments: what figures 1 and 2 draw.
#pragma once

#include "mckean/simulate.hpp"
#include "report/figure_settings.hpp"

namespace mckean {

struct SystemRun {
  double until = 0, step = 0;
  std::size_t every = 1;  // steps between two moments that are kept
  std::uint64_t seed = 1;
};

SystemRun read_system_run(FigureSettings&, std::uint64_t seed);  // until, step, record

// Calls the observer at t = 0 and then every `every` steps. Parameters are at the model's start values.
void simulate_system(const Model&, std::size_t particles, const SystemRun&, const PathObserver&);
}  // namespace mckean
