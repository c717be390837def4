// Richardson's extrapolation of levels at fixed θ to the diffusion.
#pragma once

#include <functional>
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

// The values of the levels that an extrapolated effort needs, which begin at the first that has one.
template <class T>
struct LevelValues {
  std::vector<T> values;
  int lowest;
};
template <class T>
Result<LevelValues<T>> values_of_levels(const Effort&, const std::function<Result<T>(const Effort&)>& at);
}  // namespace mckean
