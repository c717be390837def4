// What a reader must know about a fit, in plain words.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

// The likelihood at a point, from independent filters.
// With the steps and the proposal of an effort, and particles enough for a good value.
LikelihoodAverage likelihood_at(Workbench&, const std::string& group, Effort, const std::vector<double>& theta);

// Observations far from their prediction, and predictions that err in a pattern.
void check_predictions(const Data&, const std::vector<double>& errors, Findings&);

// Whether large populations follow the law at the estimate.
void check_law(Workbench&, FitResult&);

// Which parameters the data determine; says which combinations they do not, and which parameters are at a bound.
std::vector<bool> determined(const Model&, const Pilot&, Findings&);

// After the main phase: likelihood, convergence, remaining biases, observations that the model does not explain.
void check(Workbench&, const Pilot&, const StratifiedResult&, FitResult&);
}  // namespace mckean
