// How the work of a command is run: on its threads and all ranks, until it is done or a signal comes.
#pragma once

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/signals.hpp"
#include "mckean/run.hpp"

namespace mckean::cli {

// Together with a StopSignals that lives as long as the run.
inline RunOptions run_options(const Arguments& o) {
  return {.threads = o.threads,
          .show_progress = !o.quiet && !o.json,
          .verbose = o.verbose,
          .interrupted = StopSignals::requested};
}

// What `compute` makes with the runner and observer of a run that is not kept.
template <class Compute>
auto without_store(World& world, const Arguments& o, Compute&& compute) {
  const StopSignals signals;
  Run run = Run::without_store(world, {}, run_options(o));
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
