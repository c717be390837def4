#include <limits>

#include "infer/fit.hpp"

namespace mckean {
namespace {

constexpr std::pair kUsualLevels{2, 4};                          // of paper and single
constexpr int kRankLevel = 3;                                    // where the pilot begins
constexpr std::pair kEulerLevels{4, 9}, kSplittingLevels{1, 8};  // where a search begins, and how far it may go
constexpr std::size_t kStartsOfSearch = 2;

void set_rules(const FitOptions& o, auto& to) {
  if (!o.particles.empty()) to.particles = Rule(o.particles, "particles");
  if (!o.law_particles.empty()) to.law_particles = Rule(o.law_particles, "law_particles");
}

EstimatorOptions replicated_options(const FitOptions& o, const ChainOptions& chain) {
  EstimatorOptions out;
  out.kind = o.estimator == Estimator::single ? EstimatorOptions::Kind::single : EstimatorOptions::Kind::paper;
  std::tie(out.lowest, out.highest) = o.levels.value_or(kUsualLevels);
  if (o.most_p) out.most_p = o.most_p;
  if (o.unbounded_p) out.most_p.reset();
  out.level_weight = Formula(o.level_weight, "level_weight", {"l"});
  out.length_weight = Formula(o.length_weight, "length_weight", {"p"});
  out.chain_length = Formula(o.chain_length, "chain_length", {"p"});
  out.iterations = o.iterations.value_or(out.iterations);
  set_rules(o, out);
  out.seed = o.seed;
  out.chain = chain;
  out.chain.step = o.step.value_or(StepRule{});
  if (o.estimator == Estimator::paper && !o.smoother) out.chain.smoother = Smoother::genealogy;
  return out;
}

PilotOptions pilot_options(const FitOptions& o, const ChainOptions& chain) {
  if (o.unbounded_p)
    throw InputError("no largest p: the stratified estimator has a fixed number of cells; give a number");
  PilotOptions out;
  out.levels = o.levels;
  set_rules(o, out);
  out.step = o.step;
  out.iterations = o.iterations;
  out.most_p = o.most_p.value_or(0);
  out.tolerance = o.first_tolerance ? o.first_tolerance : o.tolerance;
  if (out.tolerance == 0) out.tolerance.reset();
  out.chain = chain;
  out.chain.antithetic_laws = true;
  return out;
}

// A number; rules of the level are for chains.
std::size_t number_of(const std::string& text, const char* name, std::size_t least) {
  if (text.empty()) return 0;
  return Rule(text, name).at(0, 0, 1, least);
}

search::SearchOptions search_options(const FitOptions& o) {
  search::SearchOptions out;
  out.scheme = o.scheme.value_or(o.levels ? Scheme::euler : Scheme::splitting);
  out.levels = o.levels.value_or(out.scheme == Scheme::euler ? kEulerLevels : kSplittingLevels);
  out.particles = number_of(o.particles, "particles", 2);
  out.law_particles = number_of(o.law_particles, "law_particles", 1);
  out.starts = o.starts.value_or(kStartsOfSearch);
  out.tolerance = o.tolerance;
  if (o.tolerance || o.limited_time) out.most_cost = std::numeric_limits<double>::infinity();
  return out;
}
}  // namespace

int rank_level(const FitPlan& plan) {
  return plan.estimator == Estimator::paper || plan.estimator == Estimator::single ? plan.replicated.highest
                                                                                   : kRankLevel;
}

FitPlan plan_fit(const Model& model, const FitOptions& o) {
  FitPlan plan;
  plan.engine = o.engine;
  plan.estimator = o.estimator;
  plan.seed = o.seed;
  if (o.estimator == Estimator::search) {
    plan.search = search_options(o);
    if (o.levels) plan.quadrature_level = o.levels->second;
    return plan;
  }
  const ChainOptions chain = chain_options(model, o.smoother, o.finite_difference, o.full_precision);
  if (o.estimator == Estimator::stratified)
    plan.pilot = pilot_options(o, chain);
  else
    plan.replicated = replicated_options(o, chain);
  plan.starts = o.starts.value_or(1);
  plan.replicates = o.replicates;
  plan.tolerance = o.tolerance;
  plan.limited_time = o.limited_time;
  return plan;
}

void check_fit(const Problem& given, const FitOptions& o) {
  require_enough(given.model(), given.data());
  const FitPlan plan = plan_fit(given.model(), o);
  if (plan.estimator == Estimator::search) {
    for (const EngineKind& kind : engine_kinds())
      if (plan.engine == kind.name)
        if (const auto why = kind.refuses(given)) throw InputError(*why);
    return;
  }
  const bool replicated = plan.estimator != Estimator::stratified;
  const auto [lowest, highest] = replicated ? std::pair(plan.replicated.lowest, plan.replicated.highest)
                                            : plan.pilot.levels.value_or(std::pair(kRankLevel, kRankLevel));
  using Chosen = std::optional<Rule>;
  const Chosen particles = replicated ? plan.replicated.particles : plan.pilot.particles;
  const Chosen law_particles = replicated ? plan.replicated.law_particles : plan.pilot.law_particles;
  const ParticleProblem problem(given, lowest, o.seed);
  for (int l = lowest; l <= highest; ++l) {
    const std::size_t times = problem.schedule(l).grid.points.size();
    if (particles) particles->at(l, highest, times, 2);
    if (law_particles) law_particles->at(l, highest, times);
  }
  if (replicated) MultilevelEstimator(problem, plan.replicated);
}

FitResult fit(const Problem& problem, const FitOptions& options, TaskRunner& runner, FitObserver& observer) {
  return fit(problem, plan_fit(problem.model(), options), runner, observer);
}
}  // namespace mckean
