// The default fit where no exact likelihood serves: a search on log-likelihoods of particle filters.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

FitResult fit_by_search(Workbench&, const FitPlan&);
}  // namespace mckean
