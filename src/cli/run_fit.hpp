// What the commands `fit` and `resume` share: a fit, given its run.
#pragma once

#include "run/run.hpp"

namespace mckean::cli {

// Everything that it needs is in run.input(). Asks run.runner() for the work, tells run.observer(), calls run.finish
// and on rank 0 prints the result.
void run_fit(World&, Run&, bool json);
}  // namespace mckean::cli
