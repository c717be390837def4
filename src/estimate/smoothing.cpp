#include "estimate/smoothing.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {

SmoothedDraws draw_smoothed(const Problem& problem, const ChainOptions& options, ChainIdentity id,
                            std::size_t iterations, std::uint64_t& particle_steps) {
  const Data& data = problem.data();
  const std::size_t dimension = problem.model().dimension();
  const Schedule& schedule = problem.schedule(id.level);
  Chain chain(problem, options, id);
  SmoothedDraws out;
  for (const auto& s : data.series) out.emplace_back(dimension, std::vector<std::vector<double>>(s.times.size()));
  for (std::size_t n = 0; n < iterations; ++n) {
    chain.move_paths();
    for (std::size_t s = 0; s < data.series.size(); ++s)
      for (const auto& visit : schedule.visits[s])
        for (std::size_t c = 0; c < dimension; ++c) out[s][c][visit.row].push_back(chain.paths()[s][c][visit.point]);
  }
  particle_steps = chain.particle_steps();
  return out;
}

double quantile(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double share = at - static_cast<double>(below);
  return below + 1 < sorted.size() ? (1 - share) * sorted[below] + share * sorted[below + 1] : sorted.back();
}

Smoothed summarise_draws(std::vector<double> draws) {
  const double n = static_cast<double>(draws.size());
  double mean = 0, squares = 0;
  for (const double v : draws) mean += v / n;
  for (const double v : draws) squares += (v - mean) * (v - mean) / std::max(1.0, n - 1);
  std::ranges::sort(draws);
  return {mean, std::sqrt(squares), quantile(draws, 0.05), quantile(draws, 0.5), quantile(draws, 0.95)};
}
}  // namespace mckean
