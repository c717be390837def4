#include "estimate/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mckean {
namespace {

constexpr std::size_t kHeldChains = 8;

// Several held chains, numbered from id.replicate.
HeldMoments hold_all(const Problem& problem, const ChainOptions& chain, const ChainIdentity& id,
                     const Executor& execute, const HoldOptions& held) {
  std::vector<HeldMoments> all(kHeldChains);
  execute(kHeldChains, [&](std::size_t r) {
    all[r] = hold(problem, chain, {id.seed, id.replicate + static_cast<std::uint32_t>(r), id.level}, held);
  });
  return average(all);
}

void require_finite(const Model& model, const EstimateSummary& estimate) {
  for (std::size_t p = 0; p < estimate.value.size(); ++p)
    if (!std::isfinite(estimate.value[p]) || !std::isfinite(estimate.mc_se[p]))
      throw NumericalError(fmt::format(
          "the replicates of '{}' are too large to be averaged: their chains do not converge; lower --step, or start "
          "elsewhere with --set",
          model.parameters()[p].name));
}
}  // namespace

Eigen::MatrixXd complete_data_scale(const Problem& problem, const ChainOptions& chain, ChainIdentity id,
                                    const Executor& execute, std::vector<std::string>& warnings,
                                    std::uint64_t& particle_steps) {
  HeldMoments m;
  try {
    m = hold_all(problem, chain, id, execute, {.iterations = 10, .burn_in = 10, .curvature = false});
  } catch (const NumericalError& e) {
    throw NumericalError(fmt::format("before the first replicate, the information at the start: {}", e.what()));
  }
  particle_steps += m.particle_steps;
  const Eigen::MatrixXd information = on_line(problem.model(), chain.start, m.complete);
  for (Eigen::Index p = 0; p < information.rows(); ++p)
    if (!(information(p, p) > 0))
      throw NumericalError(
          fmt::format("neither dynamics nor observations depend on '{}' at its start; it cannot be estimated: make it "
                      "a constant, or start elsewhere with --set",
                      problem.model().parameters()[static_cast<std::size_t>(p)].name));
  if (const auto inverse = inverse_if_positive(information)) return *inverse;
  warnings.push_back(
      "the information at the start is nearly singular: some combination of the parameters is not determined");
  return information.diagonal().cwiseInverse().asDiagonal();
}

std::vector<std::optional<Interval>> intervals_at(const Problem& problem, ChainOptions chain,
                                                  const std::vector<double>& theta, ChainIdentity id,
                                                  const Executor& execute, std::vector<std::string>& warnings,
                                                  std::uint64_t& particle_steps) {
  const Model& model = problem.model();
  std::vector<std::optional<Interval>> out(model.parameters().size());
  for (std::size_t p = 0; p < out.size(); ++p)
    if (!model.parameters()[p].contains(theta[p])) {
      warnings.push_back(fmt::format("the estimate of '{}' lies outside its bounds; take more replicates",
                                     model.parameters()[p].name));
      return out;
    }
  chain.start = theta;
  HeldMoments m;
  try {
    m = hold_all(problem, chain, id, execute, {.iterations = 60, .burn_in = 20});
  } catch (const NumericalError& e) {
    warnings.push_back(fmt::format("no standard errors: the information at the estimate has no value; {}", e.what()));
    return out;
  }
  particle_steps += m.particle_steps;
  const Eigen::MatrixXd information = observed_information(m);
  const auto covariance = inverse_if_positive(information),
             line = inverse_if_positive(on_line(model, theta, information));
  if (!covariance || !line) {
    warnings.push_back(
        "the observed information is not positive definite at the estimate: the estimate is not at a maximum, or some "
        "combination of the parameters is not determined; no standard errors");
    return out;
  }
  for (std::size_t p = 0; p < out.size(); ++p) {
    const auto i = static_cast<Eigen::Index>(p);
    const Parameter& parameter = model.parameters()[p];
    const double u = parameter.to_line(theta[p]), reach = 1.959963984540054 * std::sqrt((*line)(i, i));
    const double a = parameter.from_line(u - reach), b = parameter.from_line(u + reach);
    out[p] = Interval{std::sqrt((*covariance)(i, i)), std::min(a, b), std::max(a, b)};
  }
  return out;
}

FitResult fit(const Problem& problem, EstimatorOptions options, std::size_t replicates, const Executor& execute) {
  const Model& model = problem.model();
  FitResult out;
  std::uint64_t held_steps = 0;
  // Information by the better smoother, whatever the estimator uses.
  const auto held = [&](int level) {
    ChainOptions o = options.chain;
    o.smoother = can_sample_backward(model) ? Smoother::backward : Smoother::genealogy;
    const std::size_t times = problem.schedule(level).grid.points.size();
    o.particles = options.particles.at(level, options.highest, times, 2);
    o.law_particles = o.coarse_law_particles = options.law_particles.at(level, options.highest, times);
    return o;
  };
  if (options.chain.precondition.size() == 0)
    options.chain.precondition =
        complete_data_scale(problem, held(options.lowest), {options.seed, kMostReplicates, options.lowest}, execute,
                            out.warnings, held_steps);
  const MultilevelEstimator estimator(problem, options);
  std::vector<Replicate> all(replicates);
  execute(replicates, [&](std::size_t r) { all[r] = estimator(static_cast<std::uint32_t>(r)); });
  out.estimate = summarise(std::span<const Replicate>(all));
  require_finite(model, out.estimate);
  if (out.estimate.reprojections > 0)
    out.warnings.push_back(
        fmt::format("{} times a chain left its compact set and was returned to the start", out.estimate.reprojections));
  const auto& value = out.estimate.value;
  out.intervals =
      intervals_at(problem, held(options.highest), value,
                   {options.seed, kMostReplicates + kHeldChains, options.highest}, execute, out.warnings, held_steps);
  out.estimate.particle_steps += held_steps;
  for (std::size_t p = 0; p < value.size(); ++p)
    if (out.intervals[p] && out.estimate.mc_se[p] > out.intervals[p]->std_error)
      out.warnings.push_back(
          fmt::format("the Monte Carlo error of '{}' exceeds its standard error, and its interval does not contain it; "
                      "take more replicates, or --estimator single",
                      model.parameters()[p].name));
  return out;
}
}  // namespace mckean
