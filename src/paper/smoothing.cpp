#include "paper/smoothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/unconstrained.hpp"
#include "paper/record.hpp"

namespace mckean {

namespace {

// The draws of one chain: iteration by iteration, series by series, row by row.
struct ChainDraws {
  std::vector<double> values;
  std::uint64_t particle_steps = 0;
};
constexpr auto record_of(const ChainDraws*) {
  return record("draws of a chain", &ChainDraws::values, &ChainDraws::particle_steps);
}

ChainDraws draw_chain(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id,
                      std::size_t iterations) {
  const Schedule& schedule = problem.schedule(id.steps());
  PathSampler sampler(problem, options, id);
  const std::vector<double> theta = through_unconstrained(problem.model().parameters(), options.start);
  sampler.start(theta, options.burn_in);
  ChainDraws out;
  for (std::size_t n = 0; n < iterations; ++n) {
    sampler.move_paths(theta);
    for (std::size_t s = 0; s < schedule.visits.size(); ++s)
      for (const auto& visit : schedule.visits[s])
        for (std::size_t c = 0; c < problem.model().dimension(); ++c)
          out.values.push_back(sampler.paths()[s][c][visit.point]);
  }
  out.particle_steps = sampler.particle_steps();
  return out;
}

SmoothedDraws sorted_out(const ParticleProblem& problem, Steps steps, std::span<const double> values) {
  const Data& data = problem.data();
  const Schedule& schedule = problem.schedule(steps);
  const std::size_t dimension = problem.model().dimension();
  SmoothedDraws out;
  for (const auto& s : data.series) out.emplace_back(dimension, std::vector<std::vector<double>>(s.times.size()));
  for (auto at = values.begin(); at != values.end();)
    for (std::size_t s = 0; s < data.series.size(); ++s)
      for (const auto& visit : schedule.visits[s])
        for (std::size_t c = 0; c < dimension; ++c) out[s][c][visit.row].push_back(*at++);
  return out;
}
}  // namespace

SmoothedChains draw_smoothed(const ParticleProblem& problem, const ChainOptions& options, std::uint64_t seed,
                             Steps steps, ChainCount count, TaskRunner& runner) {
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < count.chains; ++r)
    tasks.push_back({fmt::format("smooth level {}", steps.level), count.first + r});
  const auto results = run_records(runner, tasks, [&](std::size_t r, std::stop_token stop) {
    ChainOptions mine = options;
    mine.stop = std::move(stop);
    return draw_chain(problem, mine, {seed, tasks[r].index, steps.level, steps.scheme}, count.iterations);
  });
  SmoothedChains out;
  for (const ChainDraws& r : results) {
    out.draws.push_back(sorted_out(problem, steps, r.values));
    out.particle_steps += r.particle_steps;
  }
  return out;
}

std::vector<double> all_draws(const SmoothedChains& chains, std::size_t series, std::size_t component,
                              std::size_t row) {
  std::vector<double> out;
  for (const auto& chain : chains.draws) {
    const auto& here = chain[series][component][row];
    out.insert(out.end(), here.begin(), here.end());
  }
  return out;
}

SmoothedStates smooth(const Problem& of, std::span<const double> theta, const SmoothOptions& o, TaskRunner& runner) {
  const ParticleProblem problem(of, o.level, o.seed);
  const ChainOptions chain = held_chain(problem, theta, o, false);
  const SmoothedChains chains = draw_smoothed(problem, chain, o.seed, o.level, {0, o.chains, o.iterations}, runner);
  SmoothedStates out;
  out.particles = chain.particles, out.law_particles = chain.law_particles;
  out.particle_steps = chains.particle_steps;
  out.at = summarise_chains(chains);
  return out;
}

States summarise_chains(const SmoothedChains& chains) {
  States out;
  const SmoothedDraws& shape = chains.draws[0];
  for (std::size_t s = 0; s < shape.size(); ++s) {
    out.emplace_back(shape[s].size());
    for (std::size_t c = 0; c < shape[s].size(); ++c)
      for (std::size_t row = 0; row < shape[s][c].size(); ++row)
        out[s][c].push_back(summarise_draws(all_draws(chains, s, c, row)));
  }
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
