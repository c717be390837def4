// Work of a command that keeps no run, on all threads and ranks.
#pragma once

#include <fmt/format.h>

#include "cli/signals.hpp"
#include "mckean/run.hpp"

namespace mckean::cli {

// What `compute` makes with the runner and observer of a run without a store.
template <class Compute>
auto without_store(World& world, RunOptions how, Compute&& compute) {
  const StopSignals signals;
  how.interrupted = StopSignals::requested;
  Run run = Run::without_store(world, {}, how);
  try {
    auto result = compute(run);
    run.finish("{}");
    return result;
  } catch (const Stopped&) {
    if (world.first()) fmt::print(stderr, "mckean: stopped; nothing was kept\n");
    throw;
  }
}
}  // namespace mckean::cli
