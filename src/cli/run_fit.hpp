// What the commands `fit` and `resume` share: a fit, given its run.
#pragma once

#include "cli/fit_settings.hpp"
#include "mckean/data.hpp"
#include "mckean/run.hpp"

namespace mckean::cli {

// Throws InputError where a fit would refuse them, so that no run is begun with them.
void check_settings(const Arguments&, const Model&, const Data&);

// Everything that it needs is in run.input(). Asks run.runner() for the work, tells run.observer(), calls run.finish
// and on rank 0 prints the result.
void run_fit(World&, Run&, bool json);
}  // namespace mckean::cli
