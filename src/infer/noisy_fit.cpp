#include "infer/noisy_fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/checks.hpp"

namespace mckean {
namespace {

constexpr double kSameHeight =
    1.5;  // log units between the search's own likelihood at the estimate and that of `loglik`

// For the report: the estimate as the search has it, and the samples of its last round with what was fitted to them.
void tell(Workbench& bench, const search::Found& found) {
  FitObserver::Decisions d{{"levels", {static_cast<double>(found.effort.level)}},
                           {"particles", {static_cast<double>(found.effort.particles)}},
                           {"law_particles", {static_cast<double>(found.effort.law_particles)}},
                           {"centre", found.inside},
                           {"loglik", {found.loglik}},
                           {"covariance", {found.covariance.data(), found.covariance.data() + found.covariance.size()}},
                           {"sample_values", {}},
                           {"sample_fitted", {}},
                           {"sample_parameters", {}}};
  for (const auto& s : found.samples) {
    d[6].second.push_back(s.value);
    d[7].second.push_back(s.fitted);
    d[8].second.insert(d[8].second.end(), s.theta.begin(), s.theta.end());
  }
  bench.observer.decided("search", d);
}

// The likelihood at the estimate as `loglik` has it, from independent laws; the search must have seen the same one.
void check_height(Workbench& bench, const search::Found& found, FitResult& out) {
  try {
    const LikelihoodAverage l = likelihood_at(bench, "", found.effort, found.inside);
    out.loglik = l.summary;
    if (!l.findings.empty()) out.findings.push_back(l.findings[0]);
    check_predictions(bench.problem.data(), l.prediction_errors, out.findings);
    const double error = std::hypot(l.summary.se.value_or(0), found.loglik_error);
    if (!found.samples.empty() && std::abs(l.summary.value - found.loglik) > kSameHeight + 4 * error) {
      out.findings.push_back({Finding::Code::heights_differ, {{"search", found.loglik}, {"filters", l.summary.value}}});
      out.converged = false;
    }
  } catch (const NumericalError& e) {
    out.findings.push_back({Finding::Code::no_loglik, {{"problem", e.what()}}});
    out.converged = false;
  }
}
}  // namespace

FitResult result_of(Workbench& bench, const search::Evaluations& evaluations, const search::Found& found,
                    const search::SearchOptions& options) {
  tell(bench, found);
  FitResult out;
  out.estimator = "search";
  out.converged = found.converged;
  out.stopped = found.stopped;
  out.value = found.theta, out.mc_se = found.mc_se, out.intervals = found.intervals;
  if (!found.samples.empty())
    for (const auto& row : found.covariance.rowwise()) out.covariance.emplace_back(row.begin(), row.end());
  out.maxima = found.maxima;
  out.findings = found.findings;
  out.evaluations = evaluations.count();
  out.scheme = found.effort.scheme, out.ahead = found.effort.ahead;
  out.lowest = options.levels.first, out.highest = found.effort.level;
  out.particles = found.effort.particles,
  out.law_particles = evaluations.engine().law_kind() == Engine::LawKind::none ? 0 : found.effort.law_particles;
  bench.particle_steps += static_cast<std::uint64_t>(evaluations.work());
  if (out.stopped)
    out.loglik = LikelihoodSummary{found.loglik, std::nullopt};
  else
    check_height(bench, found, out);
  return out;
}
}  // namespace mckean
