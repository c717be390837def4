#include "report/budget.hpp"

#include <algorithm>

namespace mckean::report {
namespace {

// Beside its instructions: a normal variate; the weights, resampling and backward sampling of a filter.
constexpr double kNormal = 3, kFilter = 8;
constexpr std::size_t kMostParticles = 128, kMostLaw = 512, kFewestParticles = 32, kFewestLaw = 64;
constexpr std::size_t kMostDraws = 20'000'000;  // that are kept
}  // namespace

Work::Work(const ParticleProblem& problem, Scheme scheme, bool tangents) {
  const System& system = problem.system();
  const auto d = system.dynamics(scheme, system.ranks()[problem.first_rank()], tangents);
  const double noise = kNormal * static_cast<double>(d->sources);
  std::size_t law = d->advance.instructions() + d->measure.instructions() * d->stages;
  for (const Program& stage : d->stage) law += stage.instructions();
  law_ = static_cast<double>(law) + noise;
  filter_ = static_cast<double>(d->move.instructions() + d->transition.instructions() + d->replay.instructions()) +
            noise + kFilter;
  if (d->pair) law_pair_ = static_cast<double>(d->pair->instructions()) + 1;
  if (d->read_pair) filter_pair_ = static_cast<double>(d->read_pair->instructions()) + 1;
  if (!d->reads_law()) law_ = 0;
}

double Work::law(std::size_t n) const { return law_ + law_pair_ * static_cast<double>(n); }
double Work::filter(std::size_t n) const { return filter_ + filter_pair_ * static_cast<double>(n); }

double Work::iteration(const ParticleProblem& problem, Steps steps_of, std::size_t particles,
                       std::size_t law_particles) const {
  const double series = static_cast<double>(problem.data().series.size());
  const double steps = static_cast<double>(problem.schedule(steps_of).grid.steps());
  return steps * (static_cast<double>(law_particles) * law(law_particles) +
                  series * static_cast<double>(particles) * filter(law_particles));
}

std::optional<SmoothingPlan> plan_smoothing(const ParticleProblem& problem, Steps steps, std::size_t particles,
                                            std::size_t law_particles) {
  const Work work(problem, steps.scheme, false);
  std::size_t rows = 0;
  for (const Series& s : problem.data().series) rows += s.times.size();
  SmoothingPlan plan{steps, std::min(particles, kMostParticles), std::min(law_particles, kMostLaw), 0};
  const auto affords = [&](std::size_t iterations) {
    plan.iterations = iterations;
    return plan.chains * iterations * rows * problem.model().dimension() <= kMostDraws &&
           work.iteration(problem, plan.steps, plan.particles, plan.law_particles) *
                   static_cast<double>(plan.chains * (iterations + plan.burn_in)) <=
               kSmoothingWork;
  };
  // First fewer iterations, then fewer particles, then longer steps.
  for (;; --plan.steps.level) {
    plan.particles = std::min(particles, kMostParticles), plan.law_particles = std::min(law_particles, kMostLaw);
    for (;;) {
      for (const std::size_t iterations : {200, 100, 50})
        if (affords(iterations)) return plan;
      if (plan.particles <= kFewestParticles && plan.law_particles <= kFewestLaw) break;
      plan.particles = std::max(std::min(plan.particles, kFewestParticles), plan.particles / 2);
      plan.law_particles = std::max(std::min(plan.law_particles, kFewestLaw), plan.law_particles / 2);
    }
    if (affords(20)) return plan;
    if (plan.steps.level == 0) return std::nullopt;
  }
}
}  // namespace mckean::report
