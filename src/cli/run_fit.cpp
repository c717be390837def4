#include "cli/run_fit.hpp"

#include "mckean/error.hpp"

namespace mckean::cli {

void run_fit(World&, Run&, bool) { throw InputError("the command 'fit' of this version keeps no runs yet"); }
}  // namespace mckean::cli
