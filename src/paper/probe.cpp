#include "paper/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/unconstrained.hpp"

namespace mckean {

std::string named_at(const std::string& group, std::span<const double> values) {
  return fmt::format("{} at {}", group, fmt::join(values, ", "));
}

void append_text(std::string_view text, std::vector<double>& to) {
  for (const char c : text) to.push_back(static_cast<unsigned char>(c));
}

std::string text_from(std::span<const double> values, std::size_t first) {
  std::string text;
  for (const double v : values.subspan(first)) text += static_cast<char>(v);
  return text;
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

constexpr double kFailed = -1;

std::vector<double> failure(const NumericalError& e) {
  std::vector<double> out{kFailed};
  append_text(e.what(), out);
  return out;
}

std::vector<double> flat(const HeldMoments& m) {
  std::vector<double> out{static_cast<double>(m.particle_steps), m.renewal};
  const auto add = [&out](const auto& matrix) { out.insert(out.end(), matrix.data(), matrix.data() + matrix.size()); };
  add(m.score), add(m.squares), add(m.complete), add(m.curvature), add(m.law_noise);
  return out;
}

HeldMoments moments(std::span<const double> values, Eigen::Index n) {
  HeldMoments m;
  m.particle_steps = static_cast<std::uint64_t>(values[0]);
  m.renewal = values[1];
  const double* at = values.data() + 2;
  m.score = Eigen::Map<const Eigen::VectorXd>(at, n);
  at += n;
  for (Eigen::MatrixXd* matrix : {&m.squares, &m.complete, &m.curvature, &m.law_noise}) {
    *matrix = Eigen::Map<const Eigen::MatrixXd>(at, n, n);
    at += n * n;
  }
  return m;
}

Probe summarise(std::span<const HeldMoments> chains, const ProbeEffort& effort, const Eigen::VectorXd& slope) {
  const HeldMoments mean = average(chains);
  const auto unconstrained_matrix = [&](const Eigen::MatrixXd& m) -> Eigen::MatrixXd {
    return slope.asDiagonal() * m * slope.asDiagonal();
  };
  const auto count = static_cast<double>(chains.size());
  Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(slope.size(), slope.size());
  for (const HeldMoments& m : chains)
    spread += (m.score - mean.score) * (m.score - mean.score).transpose() / (count * (count - 1));
  return {.found = true,
          .problem = {},
          .score = slope.cwiseProduct(mean.score),
          .score_error = unconstrained_matrix(spread),
          .complete = unconstrained_matrix(mean.complete),
          .louis = unconstrained_matrix(observed_information(mean)),
          .law_noise = unconstrained_matrix(mean.law_noise),
          .path_noise = unconstrained_matrix(mean.squares - mean.score * mean.score.transpose() - mean.law_noise),
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
  const auto results = bench.runner.run(tasks, [&](std::size_t position, std::stop_token stop) {
    const std::size_t k = position / effort.chains;
    const Place& place = places[k];
    ChainOptions chain = place.chain;
    chain.start = natural(bench.model().parameters(), place.u);
    chain.stop = std::move(stop);
    try {
      return flat(hold(bench.problem, chain, {seed_of(bench.seed, name(k)), tasks[position].index, place.level},
                       {.iterations = effort.iterations, .curvature = effort.curvature}));
    } catch (const NumericalError& e) {
      return failure(e);
    }
  });
  std::vector<Probe> out;
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::vector<HeldMoments> chains;
    Probe failed;
    for (std::size_t c = 0; c < effort.chains; ++c) {
      const auto& values = results[k * effort.chains + c];
      if (values[0] == kFailed) {
        if (failed.problem.empty()) failed.problem = text_from(values, 1);
        continue;
      }
      chains.push_back(moments(values, places[k].u.size()));
      bench.particle_steps += chains.back().particle_steps;
    }
    out.push_back(failed.problem.empty() ? summarise(chains, effort, slopes(bench.model().parameters(), places[k].u))
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
