// The smoothed state at the observation times: draws of chains that move paths and hold θ.
#pragma once

#include "paper/chain.hpp"

namespace mckean {

// Of one chain: series by series, component by component, row by row.
using SmoothedDraws = std::vector<std::vector<std::vector<std::vector<double>>>>;

struct SmoothedChains {
  std::vector<SmoothedDraws> draws;
  std::uint64_t particle_steps = 0;
};

struct ChainCount {
  std::uint32_t first = 0;  // chains have noise of their own, which their number names
  std::size_t chains = 8, iterations = 500;
};
// Chains at the start of the options and after their burn-in.
SmoothedChains draw_smoothed(const ParticleProblem&, const ChainOptions&, std::uint64_t seed, Steps, ChainCount,
                             TaskRunner&);

// Of all chains, everywhere.
States summarise_chains(const SmoothedChains&);
// Of all chains, at one place.
Smoothed summarise_draws(std::vector<double> draws);
std::vector<double> all_draws(const SmoothedChains&, std::size_t series, std::size_t component, std::size_t row);

double quantile(std::span<const double> sorted, double p);  // linear between neighbours
}  // namespace mckean
