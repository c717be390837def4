// The default fit by an engine with Monte Carlo errors: what a search on its log-likelihoods has found.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

// As the result of a fit, with the log-likelihood at the estimate.
FitResult result_of(Workbench&, const search::Evaluations&, const search::Found&, const search::SearchOptions&);
}  // namespace mckean
