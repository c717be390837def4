#include "infer/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/law_records.hpp"
#include "law/settling.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr std::size_t kFilters = 8, kFilterParticles = 1024, kPredicting = 4;

// "0.71 a - 0.71 b", of a direction in unconstrained coordinates.
std::string combination(const Model& model, const VectorXd& direction) {
  std::string text;
  for (Index p = 0; p < direction.size(); ++p) {
    const double c = direction[p];
    if (std::abs(c) < 0.05 * direction.cwiseAbs().maxCoeff()) continue;
    const Parameter& parameter = model.parameters()[static_cast<std::size_t>(p)];
    const bool bounded = std::isfinite(parameter.lower) || std::isfinite(parameter.upper);
    text += fmt::format("{}{:.2g} {}", text.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + "), std::abs(c),
                        bounded ? fmt::format("u({})", parameter.name) : parameter.name);
  }
  return text;
}

// The parameter that a bias moves most, in standard errors.
struct Worst {
  double shift = 0, error = 0;
  std::string name;
};
Worst worst(const Model& model, const Bias& bias, const VectorXd& se) {
  Worst out;
  for (Index p = 0; bias.known && p < se.size(); ++p)
    if (se[p] > 0 && std::abs(bias.shift[p]) / se[p] > out.shift)
      out = {std::abs(bias.shift[p]) / se[p], bias.error[p] / se[p],
             model.parameters()[static_cast<std::size_t>(p)].name};
  return out;
}
}  // namespace

void check_law(Workbench& bench, FitResult& out) {
  const ParticleProblem& problem = bench.problem;
  const Grid grid(observation_times(problem.data()), std::max(out.highest, 1), problem.unit(), out.scheme);
  const Settling settling(problem.system(), grid, problem.first_rank(), seed_of(bench.seed, "laws"));
  if (!settling.concerns()) return;
  std::vector<Task> tasks;
  for (std::uint32_t k = 0; k < settling.tracks(); ++k)
    tasks.push_back({named_at("laws", out.value), k, settling.work(k)});
  const auto tracks = run_records(bench.runner, tasks,
                                  [&](std::size_t i, const std::stop_token&) { return settling.track(i, out.value); });
  for (const Task& t : tasks) bench.particle_steps += out.exact ? 0 : static_cast<std::uint64_t>(t.cost);
  if (auto found = settling.judge(tracks)) out.findings.push_back(std::move(*found));
}

std::vector<bool> determined(const Model& model, const Pilot& pilot, Findings& findings) {
  std::vector<bool> known(model.parameters().size(), true);
  for (std::size_t p = 0; p < known.size(); ++p) {
    if (pilot.fixed[p]) {
      known[p] = false;
      findings.push_back({Finding::Code::bound_active, {{"parameter", model.parameters()[p].name}}});
    }
  }
  for (const VectorXd& direction : pilot.maximum.undetermined) {
    findings.push_back({Finding::Code::not_identified, {{"direction", combination(model, direction)}}});
    for (std::size_t p = 0; p < known.size(); ++p)
      if (std::abs(direction[static_cast<Index>(p)]) > 0.05 * direction.cwiseAbs().maxCoeff()) known[p] = false;
  }
  return known;
}

LikelihoodAverage likelihood_at(Workbench& bench, const std::string& group, Effort effort,
                                const std::vector<double>& theta) {
  const std::size_t series = bench.problem.data().series.size();
  const std::string name = group + "likelihood";
  const std::uint64_t seed = seed_of(bench.seed, name);
  const auto engine = make_engine("particles", bench.problem.problem(), {.level = effort.level, .seed = seed});
  AverageOptions options{.seed = seed, .repeats = kFilters, .group = name};
  effort.particles = std::max(kFilterParticles / 4, kFilterParticles / (1 + series / 8));
  effort.law_particles = kFilterParticles;
  options.request.effort = effort;
  options.request.predictions = !effort.ahead;
  LikelihoodAverage out = average_likelihood(*engine, theta, options, bench.runner);
  bench.particle_steps += out.particle_steps;
  if (!effort.ahead) return out;
  // Particles that have looked at an observation do not predict it: others do.
  options.request.effort.ahead = false;
  options.request.predictions = true;
  options.repeats = kPredicting, options.group = group + "predictions";
  const LikelihoodAverage plain = average_likelihood(*engine, theta, options, bench.runner);
  bench.particle_steps += plain.particle_steps;
  out.prediction_errors = plain.prediction_errors;
  return out;
}

void check_predictions(const Data& data, const std::vector<double>& z, Findings& findings) {
  constexpr double kFar = 5;
  constexpr std::size_t kMostNamed = 3;
  std::size_t i = 0, far = 0;
  double sum = 0, squares = 0, products = 0, n = 0, pairs = 0;
  for (const Series& s : data.series) {
    std::vector<double> before(data.columns.size(), std::nan(""));
    for (std::size_t row = 0; row < s.times.size(); ++row)
      for (std::size_t c = 0; c < data.columns.size(); ++c) {
        const double e = z[i++];
        if (std::isnan(e)) continue;
        if (std::abs(e) > kFar && ++far <= kMostNamed)
          findings.push_back({Finding::Code::unexplained,
                              {{"where", fmt::format("{}:{}", data.source, s.lines[row])},
                               {"column", data.columns[c]},
                               {"value", data.value(static_cast<std::size_t>(&s - data.series.data()), row, c)},
                               {"t", s.times[row]},
                               {"sd", e}}});
        sum += e, squares += e * e, ++n;
        if (!std::isnan(before[c])) products += e * before[c], ++pairs;
        before[c] = e;
      }
  }
  if (far > kMostNamed) findings.push_back({Finding::Code::many_unexplained, {{"count", far}, {"sd", kFar}}});
  if (n < 5) return;
  // Under the model the errors are nearly independent with mean 0 and variance 1; false alarms about 1 in 10 000.
  const double mean = sum / n, variance = squares / n, correlation = pairs > 0 ? products / pairs / variance : 0;
  if (std::abs(mean) * std::sqrt(n) > 4) findings.push_back({Finding::Code::one_sided_predictions, {{"mean", mean}}});
  if (std::abs(variance - 1) > 4 * std::sqrt(2 / n))
    findings.push_back({Finding::Code::spread_of_predictions, {{"ratio", variance}}});
  if (pairs > 0 && std::abs(correlation) * std::sqrt(pairs) > 4)
    findings.push_back({Finding::Code::correlated_predictions, {{"correlation", correlation}}});
}

void check(Workbench& bench, const Pilot& pilot, const StratifiedResult& found, FitResult& out) {
  const Model& model = bench.model();
  const MatrixXd& w = pilot.maximum.whitening;
  const VectorXd se = (w * w.transpose()).diagonal().cwiseSqrt();
  if (!pilot.arrived || !pilot.maximum.converged) out.findings.push_back({Finding::Code::ascent_not_at_rest});
  if (w.cols() > 0 && pilot.maximum.converged && pilot.maximum.relative_error > 0.15)
    out.findings.push_back(
        {Finding::Code::standard_errors_uncertain, {{"percent", 100 * pilot.maximum.relative_error}}});
  // The pilot's estimate errs by its own Monte Carlo error; beyond that the two phases must agree.
  for (Index p = 0; p < se.size(); ++p) {
    if (!(se[p] > 0)) continue;
    const double moved = std::abs(found.u[p] - pilot.plan.centre[p]);
    const double error = std::sqrt(pilot.maximum.u_error(p, p) + found.mc_se[p] * found.mc_se[p]);
    if (moved > 4 * error && moved > 0.5 * se[p])
      out.findings.push_back(
          {Finding::Code::phases_disagree,
           {{"parameter", model.parameters()[static_cast<std::size_t>(p)].name}, {"shift", moved / se[p]}}});
  }
  if (w.cols() > 0 && pilot.maximum.converged) {
    const Place place{found.u, pilot.plan.highest, pilot.plan.chains.back()};
    const MatrixXd noise = w.transpose() * pilot.maximum.noise * w;
    const double v = spectrum(noise).values.maxCoeff();
    const Biases left =
        biases(bench, "final bias ", place, pilot.maximum, std::nullopt, found.mc_se.cwiseAbs2().asDiagonal(),
               static_cast<std::size_t>(std::clamp(30 * v, 64.0, 2000.0)));
    const auto tell = [&](const Bias& bias, Finding::Code code) {
      const Worst most = worst(model, bias, se);
      if (most.shift > 0.1 + 2 * most.error)
        out.findings.push_back({code, {{"parameter", most.name}, {"shift", most.shift}, {"error", most.error}}});
    };
    tell(left.discretisation, Finding::Code::discretisation_bias);
    tell(left.law, Finding::Code::law_bias);
  }
  try {
    const LikelihoodAverage at = likelihood_at(bench, "", {.level = pilot.plan.highest}, out.value);
    out.loglik = at.summary;
    if (!at.findings.empty()) out.findings.push_back(at.findings[0]);  // one stands for all
    check_predictions(bench.problem.data(), at.prediction_errors, out.findings);
  } catch (const NumericalError& e) {
    out.findings.push_back({Finding::Code::no_loglik, {{"problem", e.what()}}});
  }
}
}  // namespace mckean
