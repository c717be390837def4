#include "paper/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/unconstrained.hpp"

namespace mckean {

std::string named_at(const std::string& group, std::span<const double> values) {
  return fmt::format("{} at {}", group, fmt::join(values, ", "));
}

namespace {

// Of one chain.
double chain_cost(const ParticleProblem& problem, const Place& place, const ProbeEffort& effort) {
  const auto& grid = problem.schedule(place.level).grid;
  const double laws = effort.curvature ? 3 + 2.0 * static_cast<double>(place.u.size()) : 2;
  const double particles = static_cast<double>(place.chain.particles * problem.data().series.size()) +
                           laws * static_cast<double>(place.chain.law_particles);
  return particles * static_cast<double>(grid.steps() * (effort.iterations + place.chain.burn_in));
}

// One chain at a place, or why there is none.
struct HeldChain {
  HeldMoments moments;
  std::string problem;
};
constexpr auto record_of(const HeldChain*) {
  return record("chain that holds its parameters", &HeldChain::moments, &HeldChain::problem);
}

Probe summarise(std::span<const HeldMoments> chains, const ProbeEffort& effort, const ChainRule& rule) {
  const HeldMoments mean = average(chains);
  const auto count = static_cast<double>(chains.size());
  Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(mean.score.size(), mean.score.size());
  for (const HeldMoments& m : chains)
    spread += (m.score - mean.score) * (m.score - mean.score).transpose() / (count * (count - 1));
  return {.found = true,
          .problem = {},
          .score = rule.gradient({mean.score.data(), static_cast<std::size_t>(mean.score.size())}),
          .score_error = rule.information(spread),
          .complete = rule.information(mean.complete),
          .louis = rule.information(observed_information(mean)),
          .law_noise = rule.information(mean.law_noise),
          .path_noise = rule.information(mean.squares - mean.score * mean.score.transpose() - mean.law_noise),
          .renewal = mean.renewal,
          .iterations = chains.size() * effort.iterations};
}
}  // namespace

double expected_cost(const ParticleProblem& problem, const Place& place, const ProbeEffort& effort) {
  return static_cast<double>(effort.chains) * chain_cost(problem, place, effort);
}

std::size_t affordable(const ParticleProblem& problem, const Place& place, std::size_t wanted) {
  constexpr double kLong = 4e5;  // particle-steps of an iteration
  const double one = chain_cost(problem, place, {.iterations = 1}) / static_cast<double>(1 + place.chain.burn_in);
  return static_cast<std::size_t>(std::ceil(static_cast<double>(wanted) * std::clamp(kLong / one, 0.4, 1.0)));
}

std::vector<Probe> probe(Workbench& bench, const std::string& group, std::span<const Place> places,
                         const ProbeEffort& effort) {
  const auto name = [&](std::size_t k) { return fmt::format("{} {}", group, k); };
  std::vector<Task> tasks;
  for (std::size_t k = 0; k < places.size(); ++k)
    for (std::size_t c = 0; c < effort.chains; ++c)
      tasks.push_back({named_at(name(k), natural(bench.model().parameters(), places[k].u)),
                       static_cast<std::uint32_t>(c), chain_cost(bench.problem, places[k], effort)});
  const auto results = run_records(bench.runner, tasks, [&](std::size_t position, std::stop_token stop) {
    const std::size_t k = position / effort.chains;
    const Place& place = places[k];
    ChainOptions chain = place.chain;
    chain.start = natural(bench.model().parameters(), place.u);
    chain.stop = std::move(stop);
    try {
      return HeldChain{bench.chains->moments(chain, {seed_of(bench.seed, name(k)), tasks[position].index, place.level},
                                             {.iterations = effort.iterations, .curvature = effort.curvature}),
                       {}};
    } catch (const NumericalError& e) {
      return HeldChain{{}, e.what()};
    }
  });
  std::vector<Probe> out;
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::vector<HeldMoments> chains;
    Probe failed;
    for (std::size_t c = 0; c < effort.chains; ++c) {
      const HeldChain& chain = results[k * effort.chains + c];
      if (!chain.problem.empty()) {
        if (failed.problem.empty()) failed.problem = chain.problem;
        continue;
      }
      chains.push_back(chain.moments);
      bench.particle_steps += chains.back().particle_steps;
    }
    out.push_back(failed.problem.empty() ? summarise(chains, effort, ChainRule(bench.model().parameters(), places[k].u))
                                         : failed);
  }
  return out;
}

Probe combine(const Probe& a, const Probe& b) {
  const double total = static_cast<double>(a.iterations + b.iterations);
  const double x = static_cast<double>(a.iterations) / total, y = static_cast<double>(b.iterations) / total;
  return {.found = a.found && b.found,
          .problem = a.found ? b.problem : a.problem,
          .score = x * a.score + y * b.score,
          .score_error = x * x * a.score_error + y * y * b.score_error,
          .complete = x * a.complete + y * b.complete,
          .louis = x * a.louis + y * b.louis,
          .law_noise = x * a.law_noise + y * b.law_noise,
          .path_noise = x * a.path_noise + y * b.path_noise,
          .renewal = std::min(a.renewal, b.renewal),
          .iterations = a.iterations + b.iterations};
}
}  // namespace mckean
