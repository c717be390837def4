// Derivatives against central differences: what `check` says of a model's.
#pragma once

#include "law/law.hpp"

namespace mckean::cli {

// Tangents of the law's numbers (of its particles, where an interaction is pairwise) against central differences of the
// same particle system, over a short run. The largest error, relative to the largest tangent of its parameter.
double law_derivative_error(const System&, const Grid&, std::span<const double> theta, const LawNoise&,
                            const LawOptions&);

// Symbolic derivatives of drift, diffusion, interactions and log densities against central differences, around the
// start. Points at which an expression is not finite are passed over.
double expression_derivative_error(const Model&);
}  // namespace mckean::cli
