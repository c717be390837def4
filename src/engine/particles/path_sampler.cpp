#include "engine/particles/path_sampler.hpp"

#include <fmt/format.h>

#include "mckean/fit.hpp"

namespace mckean {
namespace {

// Steps of a law's particles; finite differences run it again for each parameter.
std::uint64_t cost_of_law(const LawPath& law, std::size_t steps, Derivative derivative) {
  if (!law.dynamics->reads_law()) return 0;
  const std::size_t runs = derivative == Derivative::finite_difference ? 1 + law.dynamics->dynamic.size() : 1;
  return runs * law.particles * steps;
}

std::uint64_t cost_of_filter(const Schedule& schedule, std::size_t particles) {
  std::uint64_t steps = 0;
  for (const auto& stops : schedule.stops) steps += stops.back().point;
  return steps * particles;
}

KernelOptions kernel_options(const SamplerOptions& o) {
  return {.particles = o.particles, .smoother = o.smoother, .precision = o.precision, .ahead = o.ahead};
}
}  // namespace

SamplerBase::SamplerBase(const ParticleProblem& problem, const SamplerOptions& options, ChainIdentity id)
    : problem_(problem), options_(options), id_(id) {}

LawNoise SamplerBase::law_noise(std::uint32_t n, Purpose start, Purpose path) const {
  if (options_.keep_laws) n = 0;
  LawNoise noise{{id_.seed, id_.replicate, n, start}, {id_.seed, id_.replicate, n, path}};
  noise.start.antithetic = noise.path.antithetic = options_.antithetic_laws;
  return noise;
}

LawOptions SamplerBase::law_options(Derivative derivative, double margin) const {
  return {.particles = options_.law_particles,
          .derivative = derivative,
          .precision = options_.precision,
          .margin = margin,
          .first_rank = problem_.first_rank()};
}

std::string SamplerBase::place(std::span<const double> theta) const {
  const std::string name =
      id_.replicate < kMostReplicates ? fmt::format("replicate {}", id_.replicate) : "a chain for the information";
  return fmt::format("{}, level {}, iteration {}, at {}: ", name, id_.level, n_,
                     to_text(problem_.model().parameters(), theta));
}

PathSampler::PathSampler(const ParticleProblem& problem, const SamplerOptions& options, ChainIdentity id)
    : SamplerBase(problem, options, id),
      schedule_(problem.schedule(id.steps())),
      filter_(problem.system(), problem.observation(), schedule_, kernel_options(options)),
      score_(problem.system(), problem.observation_score(), schedule_) {}

// A fresh law, and new paths of all series given it: all or none, should a particle leave a window. `particles` is what
// each series costs per step.
template <class Draw>
void PathSampler::replace_paths(std::span<const double> theta, std::size_t particles, Draw&& draw) {
  const auto law_for = [&](double margin) -> const LawPath& {
    return law(path_law_, theta, kernel_law(), law_options(Derivative::none, margin));
  };
  with_wide_enough_law(law_for, [&](const LawPath& law) {
    filter_.set_law(law, theta);
    std::vector<Path> drawn;
    for (std::size_t s = 0; s < problem().data().series.size(); ++s) {
      std::optional<Path> path = draw(s);
      if (!path) return LawStatus::window_left;
      drawn.push_back(*std::move(path));
    }
    paths_ = std::move(drawn);
    if (!settings().keep_laws) count(cost_of_law(law, schedule_.grid.steps(), Derivative::none));
    count(cost_of_filter(schedule_, particles));
    return LawStatus::good;
  });
}

// A fresh one, unless it is kept and wide enough.
const LawPath& PathSampler::law(KeptLaw& kept, std::span<const double> theta, const LawNoise& noise,
                                const LawOptions& options) {
  if (settings().keep_laws && kept.margin >= options.margin) return kept.law;
  kept = {draw_law(problem().system(), schedule_.grid, theta, noise, options), options.margin};
  if (settings().keep_laws) count(cost_of_law(kept.law, schedule_.grid.steps(), options.derivative));
  return kept.law;
}

void PathSampler::begin(std::span<const double> theta) {
  replace_paths(theta, 1, [&](std::size_t s) { return filter_.first_path(s, kernel_noise()); });
}

void PathSampler::draw(std::span<const double> theta) {
  next_iteration();
  replace_paths(theta, settings().particles, [&](std::size_t s) { return filter_.step(s, paths_[s], kernel_noise()); });
}

PathScore PathSampler::score_given(std::span<const double> theta, std::uint32_t law_number) {
  score_.set_parameters(theta);
  PathScore h;
  const auto law_for = [&](double margin) -> const LawPath& {
    return law(score_law_, theta, score_law(law_number), law_options(settings().derivative, margin));
  };
  with_wide_enough_law(law_for, [&](const LawPath& law) {
    h = score_.zero();
    for (std::size_t s = 0; s < paths_.size(); ++s)
      if (score_.add(s, paths_[s], law, h) != LawStatus::good) return LawStatus::window_left;
    if (!settings().keep_laws) count(cost_of_law(law, schedule_.grid.steps(), settings().derivative));
    return LawStatus::good;
  });
  return h;
}

void PathSampler::start(std::span<const double> theta, std::size_t burn_in) {
  attempt(theta, [&] { begin(theta); });
  for (std::size_t i = 0; i < burn_in; ++i) move_paths(theta);
}

void PathSampler::move_paths(std::span<const double> theta) {
  attempt(theta, [&] { draw(theta); });
}

PathScore PathSampler::advance(std::span<const double> theta) {
  PathScore h;
  attempt(theta, [&] {
    draw(theta);
    h = score(theta);
  });
  return h;
}

CoupledPathSampler::CoupledPathSampler(const ParticleProblem& problem, const SamplerOptions& options, ChainIdentity id)
    : SamplerBase(problem, options, id),
      fine_schedule_(problem.schedule(id.level)),
      coarse_schedule_(problem.schedule(id.level - 1)),
      filter_(problem.system(), problem.observation(), fine_schedule_, coarse_schedule_, kernel_options(options)),
      fine_score_(problem.system(), problem.observation_score(), fine_schedule_),
      coarse_score_(problem.system(), problem.observation_score(), coarse_schedule_) {}

std::pair<LawPath, LawPath> CoupledPathSampler::draw_laws(const ThetaPair& at, const LawNoise& noise,
                                                          const LawOptions& options) const {
  return draw_coupled_laws(problem().system(), {fine_schedule_.grid, at.fine}, {coarse_schedule_.grid, at.coarse},
                           noise, options, settings().coarse_law_particles);
}

std::uint64_t CoupledPathSampler::law_cost(const std::pair<LawPath, LawPath>& laws, Derivative derivative) const {
  return cost_of_law(laws.first, fine_schedule_.grid.steps(), derivative) +
         cost_of_law(laws.second, coarse_schedule_.grid.steps(), derivative);
}

template <class Draw>
void CoupledPathSampler::replace_paths(const ThetaPair& at, std::size_t particles, Draw&& draw) {
  const auto draw_once = [&](double margin) {
    return draw_laws(at, kernel_law(), law_options(Derivative::none, margin));
  };
  with_wide_enough_law(draw_once, [&](const std::pair<LawPath, LawPath>& laws) {
    filter_.set_laws(laws.first, laws.second, at.fine, at.coarse);
    std::vector<CoupledFilter::Pair> drawn;
    for (std::size_t s = 0; s < problem().data().series.size(); ++s) {
      std::optional<CoupledFilter::Pair> pair = draw(s);
      if (!pair) return LawStatus::window_left;
      drawn.push_back(*std::move(pair));
    }
    paths_ = std::move(drawn);
    count(law_cost(laws, Derivative::none) + cost_of_filter(fine_schedule_, particles) +
          cost_of_filter(coarse_schedule_, particles));
    return LawStatus::good;
  });
}

void CoupledPathSampler::begin(const ThetaPair& at) {
  replace_paths(at, 1, [&](std::size_t s) { return filter_.first_paths(s, kernel_noise()); });
}

void CoupledPathSampler::draw(const ThetaPair& at) {
  next_iteration();
  replace_paths(at, settings().particles, [&](std::size_t s) { return filter_.step(s, paths_[s], kernel_noise()); });
}

std::pair<PathScore, PathScore> CoupledPathSampler::scores(const ThetaPair& at) {
  std::pair<PathScore, PathScore> h;
  fine_score_.set_parameters(at.fine);
  coarse_score_.set_parameters(at.coarse);
  const auto draw_once = [&](double margin) {
    return draw_laws(at, score_law(iteration()), law_options(settings().derivative, margin));
  };
  with_wide_enough_law(draw_once, [&](const std::pair<LawPath, LawPath>& laws) {
    h = {fine_score_.zero(), coarse_score_.zero()};
    for (std::size_t s = 0; s < paths_.size(); ++s)
      if (fine_score_.add(s, paths_[s].fine, laws.first, h.first) != LawStatus::good ||
          coarse_score_.add(s, paths_[s].coarse, laws.second, h.second) != LawStatus::good)
        return LawStatus::window_left;
    count(law_cost(laws, settings().derivative));
    return LawStatus::good;
  });
  return h;
}
}  // namespace mckean
