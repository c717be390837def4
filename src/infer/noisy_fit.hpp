// The default fit by an engine with Monte Carlo errors: a search on its log-likelihoods.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

FitResult fit_by_search(Workbench&, const Engine&, const FitPlan&);
}  // namespace mckean
