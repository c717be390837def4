#include "infer/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/checks.hpp"
#include "infer/exact_fit.hpp"
#include "infer/noisy_fit.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr std::size_t kDefaultReplicates = 200;
constexpr double kChunkWork = 3e7;        // particle-steps of paper and single between looks at the clock, and
constexpr std::size_t kChunk = 16;        // at least so many replicates, for all threads to have some
constexpr std::size_t kBurnIn = 20;       // of chains for the information
constexpr std::size_t kUnconverged = 24;  // replicates, where the pilot has not found the maximum
constexpr std::size_t kFew = 5;           // observed values a parameter, below which asymptotic errors are a guess
constexpr double kShareOfError = 0.1;     // Monte Carlo error over standard error, by default

std::size_t observed_values(const Data& data) {
  std::size_t count = 0;
  for (const Series& s : data.series)
    count += static_cast<std::size_t>(std::ranges::count_if(s.values, [](double v) { return !std::isnan(v); }));
  return count;
}

// The observed information at an estimate of `paper` or `single`, by Louis' identity.
std::vector<Interval> intervals_at(Workbench& bench, const Place& place, Findings& findings) {
  const std::vector<bool> none(static_cast<std::size_t>(place.u.size()), false), all(none.size(), true);
  const auto theta = natural(bench.model().parameters(), place.u);
  const Probe p =
      probe(bench, "information", std::span(&place, 1), {.chains = 8, .iterations = 60, .curvature = true})[0];
  if (!p.found) {
    findings.push_back({Finding::Code::no_information, {{"problem", p.problem}}});
    return intervals(bench.model(), theta, {}, none);
  }
  const auto covariance = inverse_if_positive(p.louis);
  if (covariance) return intervals(bench.model(), theta, *covariance, all);
  findings.push_back({Finding::Code::not_positive_definite});
  return intervals(bench.model(), theta, {}, none);
}

// Replicates, of which there are n, that a Monte Carlo error below the tolerance takes; at most four times as many at
// once, since the error itself is uncertain.
std::size_t needed(const EstimateSummary& summary, std::size_t n, double tolerance) {
  const double missed = std::ranges::max(summary.mc_se) / tolerance;
  if (!(missed > 1)) return n;
  const double more = static_cast<double>(n) * std::clamp(1.1 * missed * missed, 1.1, 4.0);
  return std::min<std::size_t>(static_cast<std::size_t>(std::ceil(more)), kMostReplicates);
}

// Where an estimator of `paper` or `single` is looked at: by the better smoother, whatever the estimator uses.
Place replicated_place(const ParticleProblem& problem, const EstimatorOptions& settings, int level,
                       const std::vector<double>& theta) {
  Place p{unconstrained(problem.model().parameters(), theta), level, settings.chain};
  p.chain.burn_in = kBurnIn;
  p.chain.smoother = smoother_for(problem.model(), {});
  const std::size_t times = problem.schedule(level).grid.points.size();
  p.chain.particles = settings.particles.at(level, settings.highest, times, 2);
  p.chain.law_particles = p.chain.coarse_law_particles = settings.law_particles.at(level, settings.highest, times);
  return p;
}

// Procedures 1 and 2 as printed: replicates whose mean is the answer.
FitResult fit_replicated(Workbench& bench, const FitPlan& given) {
  const Model& model = bench.model();
  EstimatorOptions settings = given.replicated;
  FitResult out;
  const auto place = [&](int level, const std::vector<double>& theta) {
    return replicated_place(bench.problem, settings, level, theta);
  };
  out.estimator = given.estimator == Estimator::paper ? "paper" : "single";
  precondition(bench, settings, out.findings);
  const MultilevelEstimator estimator(bench.problem, settings);
  std::vector<Replicate> all;
  EstimateSummary summary;
  bool out_of_time = false;
  for (std::size_t wanted = given.replicates.value_or(kDefaultReplicates); all.size() < wanted && !out_of_time;) {
    std::vector<Task> tasks;
    double work = 0;
    for (auto r = static_cast<std::uint32_t>(all.size()); r < wanted; ++r) {
      if (given.limited_time && work > kChunkWork && tasks.size() >= kChunk) break;
      tasks.push_back({"replicate", r, estimator.expected_cost(r)});
      work += tasks.back().cost;
    }
    for (Replicate& r : run_records(bench.runner, tasks, [&](std::size_t i, std::stop_token stop) {
           return estimator(tasks[i].index, std::move(stop));
         }))
      all.push_back(std::move(r));
    summary = summarise(std::span<const Replicate>(all));
    out_of_time = bench.runner.out_of_time();
    if (!given.replicates && given.tolerance && all.size() == wanted)
      wanted = needed(summary, all.size(), *given.tolerance);
  }
  if (out_of_time) out.findings.push_back({Finding::Code::out_of_time}), out.converged = false;
  for (std::size_t p = 0; p < summary.value.size(); ++p)
    if (!std::isfinite(summary.value[p]) || !std::isfinite(summary.mc_se[p]))
      throw NumericalError(fmt::format(
          "the replicates of '{}' are too large to be averaged: their chains do not converge; take shorter steps, or "
          "start elsewhere",
          model.parameters()[p].name));
  bench.particle_steps += summary.particle_steps;
  out.value = summary.value, out.mc_se = summary.mc_se, out.cells = summary.cells;
  out.replicates = all.size(), out.reprojections = summary.reprojections;
  out.lowest = settings.lowest, out.highest = settings.highest, out.iterations = settings.iterations;
  out.intervals.resize(out.value.size());
  for (std::size_t p = 0; p < out.value.size(); ++p)
    if (!model.parameters()[p].contains(out.value[p])) {
      out.findings.push_back({Finding::Code::outside_bounds, {{"parameter", model.parameters()[p].name}}});
      return out;
    }
  const Place top = place(out.highest, out.value);
  out.particles = top.chain.particles, out.law_particles = top.chain.law_particles;
  out.intervals = intervals_at(bench, top, out.findings);
  for (std::size_t p = 0; p < out.value.size(); ++p)
    if (out.mc_se[p] > out.intervals[p].std_error.value_or(out.mc_se[p]))
      out.findings.push_back({Finding::Code::monte_carlo_error_exceeds, {{"parameter", model.parameters()[p].name}}});
  return out;
}

// Starts of further pilots: from the model's, up to a factor of e or a unit and a half to either side in unconstrained
// coordinates.
std::vector<double> another_start(const Model& model, const std::vector<double>& start, std::uint64_t seed,
                                  std::size_t k) {
  const Stream stream(seed_of(seed, "starts"), static_cast<std::uint32_t>(k), 0, Purpose::data);
  VectorXd u = unconstrained(model.parameters(), start);
  for (Index p = 0; p < u.size(); ++p)
    u[p] += (2 * uniform(stream, 0, static_cast<std::uint32_t>(p)) - 1) * std::max(1.0, 0.75 * std::abs(u[p]));
  return natural(model.parameters(), u);
}

// Pilots from all starts; the one with the highest likelihood, and a warning where others ended elsewhere.
Pilot best_pilot(Workbench& bench, const FitPlan& given, Findings& findings) {
  std::vector<Pilot> pilots;
  std::vector<LikelihoodSummary> likelihoods;
  Findings failures;
  for (std::size_t k = 0; k < given.starts; ++k) {
    PilotOptions o = given.pilot;
    if (k > 0) o.chain.start = another_start(bench.model(), o.chain.start, bench.seed, k);
    bench.observer.message(fmt::format("start {}: {}", k + 1, to_text(bench.model().parameters(), o.chain.start)));
    if (given.starts == 1) return explore(bench, "", o);
    try {
      Pilot pilot = explore(bench, fmt::format("start {} ", k), o);
      likelihoods.push_back(likelihood_at(bench, fmt::format("start {} ", k), {.level = pilot.plan.highest},
                                          natural(bench.model().parameters(), pilot.maximum.u))
                                .summary);
      pilots.push_back(std::move(pilot));
    } catch (const NumericalError& e) {
      failures.push_back({Finding::Code::start_failed, {{"start", k + 1}, {"problem", e.what()}}});
    }
  }
  if (pilots.empty()) throw NumericalError(to_text(failures[0]));
  findings.insert(findings.end(), failures.begin(), failures.end());
  const auto best = static_cast<std::size_t>(std::ranges::max_element(likelihoods, {}, &LikelihoodSummary::value) -
                                             likelihoods.begin());
  for (std::size_t k = 0; k < pilots.size(); ++k) {
    const VectorXd away = pilots[best].maximum.information * (pilots[k].maximum.u - pilots[best].maximum.u);
    const double distance = std::sqrt(std::max(0.0, away.dot(pilots[k].maximum.u - pilots[best].maximum.u)));
    if (distance > 3)
      findings.push_back(
          {Finding::Code::another_end,
           {{"place", to_text(bench.model().parameters(), natural(bench.model().parameters(), pilots[k].maximum.u))},
            {"loglik", likelihoods[k].value},
            {"best", likelihoods[best].value}}});
  }
  return std::move(pilots[best]);
}

// What the pilot decided; numbers of particles and levels one for each level.
void tell(Workbench& bench, const Pilot& pilot) {
  const StratifiedPlan& plan = pilot.plan;
  FitObserver::Decisions d{{"levels", {}}, {"particles", {}}, {"law_particles", {}}, {"iterations", {}}};
  for (std::size_t k = 0; k < plan.chains.size(); ++k) {
    d[0].second.push_back(plan.lowest + static_cast<int>(k));
    d[1].second.push_back(static_cast<double>(plan.chains[k].particles));
    d[2].second.push_back(static_cast<double>(plan.chains[k].law_particles));
  }
  for (const std::size_t n : plan.lengths) d[3].second.push_back(static_cast<double>(n));
  const StepRule step = plan.chains[0].step;
  const MatrixXd& information = pilot.maximum.information;
  d.push_back({"gamma", {step.gamma}});
  d.push_back({"n0", {step.n0}});
  d.push_back({"rho", {step.rho}});
  d.push_back({"centre", natural(bench.model().parameters(), plan.centre)});
  d.push_back({"unconstrained_information", {information.data(), information.data() + information.size()}});
  d.push_back({"unconstrained_target", {plan.target.begin(), plan.target.end()}});
  bench.observer.decided("pilot", d);
}

FitResult fit_stratified(Workbench& bench, const FitPlan& given) {
  const Model& model = bench.model();
  FitResult out;
  out.estimator = "stratified";
  Pilot pilot = best_pilot(bench, given, out.findings);
  out.findings.insert(out.findings.end(), pilot.findings.begin(), pilot.findings.end());
  const MatrixXd covariance = pilot.maximum.whitening * pilot.maximum.whitening.transpose();
  const VectorXd se = covariance.diagonal().cwiseSqrt();
  std::vector<bool> known = determined(model, pilot, out.findings);

  StratifiedPlan& plan = pilot.plan;
  plan.replicates = given.replicates;
  // What has not been found cannot be refined, and has no standard errors.
  if (!pilot.maximum.converged) {
    known.assign(known.size(), false);
    plan.replicates = std::min(given.replicates.value_or(kUnconverged), kUnconverged);
  }
  plan.target = VectorXd::Constant(se.size(), std::numeric_limits<double>::infinity());
  const VectorXd slope = slopes(model.parameters(), plan.centre).cwiseAbs();
  for (Index p = 0; p < se.size(); ++p)
    if (se[p] > 0) plan.target[p] = given.tolerance ? *given.tolerance / slope[p] : kShareOfError * se[p];
  tell(bench, pilot);
  const StratifiedResult found = estimate(bench, plan);
  out.findings.insert(out.findings.end(), found.findings.begin(), found.findings.end());
  out.value = natural(model.parameters(), found.u);
  const VectorXd at = slopes(model.parameters(), found.u).cwiseAbs().cwiseProduct(found.mc_se);
  out.mc_se.assign(at.begin(), at.end());
  out.cells = found.cells;
  out.replicates = found.replicates, out.reprojections = found.reprojections;
  out.lowest = plan.lowest, out.highest = plan.highest, out.iterations = plan.lengths[0];
  out.particles = plan.chains.back().particles, out.law_particles = plan.chains.back().law_particles;
  out.intervals = intervals(model, out.value, covariance, known);
  if (found.out_of_time) out.findings.push_back({Finding::Code::out_of_time});
  out.converged = pilot.arrived && pilot.maximum.converged && !found.out_of_time;
  check(bench, pilot, found, out);
  return out;
}

}  // namespace

std::vector<Interval> intervals(const Model& model, const std::vector<double>& theta, const MatrixXd& covariance,
                                const std::vector<bool>& known) {
  std::vector<Interval> out(theta.size());
  for (std::size_t p = 0; p < theta.size(); ++p) {
    if (!known[p]) continue;
    const Parameter& parameter = model.parameters()[p];
    const double u = parameter.unconstrained(theta[p]),
                 sd = std::sqrt(covariance(static_cast<Index>(p), static_cast<Index>(p)));
    const double a = parameter.natural(u - 1.959963984540054 * sd), b = parameter.natural(u + 1.959963984540054 * sd);
    out[p] = Interval{std::abs(parameter.slope(u)) * sd, std::min(a, b), std::max(a, b)};
  }
  return out;
}

namespace {

// By the engine that was asked for, else by the first that serves at a bearable cost.
FitResult fit_by_likelihood(Workbench& bench, const FitPlan& given) {
  const Problem& problem = bench.problem.problem();
  for (const EngineKind& kind : engine_kinds()) {
    if (given.engine == "auto" ? kind.refuses(problem).has_value() : given.engine != kind.name) continue;
    const auto engine = make_engine(kind.name, problem, {.level = given.search.levels.first, .seed = given.seed});
    if (engine->exact()) {
      if (auto out = fit_exactly(bench, *engine, given)) return std::move(*out);
      continue;
    }
    search::Evaluations evaluations(*engine, bench.runner, bench.observer, given.seed);
    const search::Found found = search::search(evaluations, bench.model().parameters(), given.search);
    return result_of(bench, evaluations, found, given.search);
  }
  throw NumericalError("no engine has a likelihood here");
}
}  // namespace

void precondition(Workbench& bench, EstimatorOptions& settings, Findings& findings) {
  if (settings.chain.precondition.size() > 0) return;
  const Place start = replicated_place(bench.problem, settings, settings.lowest, settings.chain.start);
  settings.chain.precondition = complete_data_scale(bench, start.chain, settings.lowest, findings);
}

MatrixXd complete_data_scale(Workbench& bench, const ChainOptions& chain, int level, Findings& findings) {
  const Place place{unconstrained(bench.model().parameters(), chain.start), level, chain};
  const Probe p = probe(bench, "scale", std::span(&place, 1), {.chains = 8, .iterations = 10})[0];
  if (!p.found)
    throw NumericalError(fmt::format("before the first replicate, the information at the start: {}", p.problem));
  for (Index i = 0; i < p.complete.rows(); ++i)
    if (!(p.complete(i, i) > 0))
      throw NumericalError(
          fmt::format("neither dynamics nor observations depend on '{}' at its start; it cannot be estimated: make it "
                      "a constant, or start elsewhere",
                      bench.model().parameters()[static_cast<std::size_t>(i)].name));
  if (const auto inverse = inverse_if_positive(p.complete)) return *inverse;
  findings.push_back({Finding::Code::nearly_singular});
  return p.complete.diagonal().cwiseInverse().asDiagonal();
}

void require_enough(const Model& model, const Data& data) {
  const std::size_t values = observed_values(data), parameters = model.parameters().size();
  if (values < parameters)
    throw InputError(fmt::format(
        "{}: {} observed value{} cannot determine {} parameters; take more data, or make parameters constants",
        data.source, values, values == 1 ? "" : "s", parameters));
}

FitResult fit(const Problem& problem, const FitPlan& given, TaskRunner& runner, FitObserver& observer) {
  require_enough(problem.model(), problem.data());
  const ParticleProblem for_particles(problem, rank_level(given), given.seed);
  Workbench bench{for_particles, runner, observer, given.seed};
  FitResult out = given.estimator == Estimator::search       ? fit_by_likelihood(bench, given)
                  : given.estimator == Estimator::stratified ? fit_stratified(bench, given)
                                                             : fit_replicated(bench, given);
  if (given.estimator == Estimator::search && !out.stopped) check_law(bench, out);
  const std::size_t values = observed_values(problem.data()), parameters = problem.model().parameters().size();
  if (values < kFew * parameters)
    out.findings.push_back({Finding::Code::few_data, {{"values", values}, {"parameters", parameters}}});
  if (out.reprojections > 0) out.findings.push_back({Finding::Code::reprojections, {{"count", out.reprojections}}});
  out.particle_steps = bench.particle_steps;
  out.parameters = named_parameters(problem.model(), out);
  return out;
}
}  // namespace mckean
