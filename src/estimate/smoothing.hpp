// The smoothed state at the observation times: draws of a chain that moves paths and holds θ.
#pragma once

#include "estimate/chain.hpp"

namespace mckean {

// Series by series, component by component, row by row.
using SmoothedDraws = std::vector<std::vector<std::vector<std::vector<double>>>>;

// One chain, at the start of its options and after their burn-in. `particle_steps` is what it took.
SmoothedDraws draw_smoothed(const Problem&, const ChainOptions&, ChainIdentity, std::size_t iterations,
                            std::uint64_t& particle_steps);

// Of all draws at one place.
struct Smoothed {
  double mean, sd, q05, q50, q95;
};
Smoothed summarise_draws(std::vector<double> draws);

double quantile(std::span<const double> sorted, double p);  // linear between neighbours
}  // namespace mckean
