// The default fit by an exact engine.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

// None where the engine has no likelihood at any start, or costs too much and was not asked for by name.
std::optional<FitResult> fit_exactly(Workbench&, const Engine&, const FitPlan&);
}  // namespace mckean
