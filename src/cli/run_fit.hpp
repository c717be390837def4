// How `fit` and `resume` come to the run of a fit; what they do with it is the same.
#pragma once

#include "cli/fit_settings.hpp"
#include "mckean/data.hpp"
#include "mckean/run.hpp"

namespace mckean::cli {

// `fit`: checks first, so that no run is begun with what a fit would refuse.
Run begin_fit(const Arguments&, World&);
// `resume`: of a folder, with the settings that are to be changed.
Run reopen_fit(const Arguments&, World&);
}  // namespace mckean::cli
