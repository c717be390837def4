// Richardson's extrapolation of levels at fixed θ to the diffusion.
#pragma once

#include <optional>
#include <span>

#include "mckean/engine.hpp"

namespace mckean {

// Of successive levels, the coarsest first. Euler's error has the powers Δ, Δ², …: of three levels,
// (L_l − 6 L_{l+1} + 8 L_{l+2})/3 leaves Δ³. That of a splitting with constant noise has Δ², Δ⁴, …: of two levels,
// (4 L_{l+1} − L_l)/3 leaves Δ⁴.
std::span<const double> extrapolation_weights(Scheme);
// How many times smaller the error is for the next levels, at least: half of what these powers promise.
double extrapolation_gain(Scheme);

// Values, gradients and information combine alike; predictions are those of the finest level.
Evaluation extrapolated(std::span<const Evaluation> levels, Scheme);
States extrapolated(std::span<const States> levels, Scheme);

// What the failure of a level means for the extrapolation. Dynamics that explode have no value, or need too large a
// grid: wherever the steps may be the reason, they are too long.
Failure of_coarse_level(Failure);
// Levels that are so many log units apart that nothing can be extrapolated from them.
Failure too_far_apart(double apart);
}  // namespace mckean
