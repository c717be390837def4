// The default fit where the state has one component: on the exact likelihood.
#pragma once

#include "infer/fit.hpp"

namespace mckean {

// None where quadrature cannot serve, or only at an unbearable cost, and another engine may. Throws InputError and
// NumericalError where it was asked for by name.
std::optional<FitResult> fit_by_quadrature(Workbench&, const FitPlan&);
}  // namespace mckean
