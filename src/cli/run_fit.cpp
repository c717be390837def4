#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/run_fit.hpp"
#include "estimate/fit.hpp"
#include "model/number.hpp"
#include "quadrature/quadrature.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHighestP = 30, kRankLevel = 3;

Json cells_json(const Model& model, const std::vector<Cell>& all) {
  Json cells = Json::array(), no_values = Json::object();  // one replicate has no spread
  for (const auto& p : model.parameters()) no_values[p.name] = nullptr;
  for (const Cell& c : all)
    cells.push_back({{"level", c.level},
                     {"p", c.p},
                     {"count", c.count},
                     {"mean", parameters_json(model, c.mean)},
                     {"sd", c.count > 1 ? parameters_json(model, c.sd) : no_values},
                     {"particle_steps", c.particle_steps}});
  return cells;
}

std::optional<int> parse_most_p(const std::string& text) {
  if (text == "inf") return std::nullopt;
  const Number n = parse_number(text);
  if (!n.problem.empty() || !(n.value >= 0 && n.value <= kHighestP) || n.value != std::floor(n.value))
    throw InputError(fmt::format("--p-max {}: a whole number from 0 to {} is expected, or inf", text, kHighestP));
  return static_cast<int>(n.value);
}

EstimatorOptions replicated_options(const FitSettings& s, const ChainOptions& chain) {
  EstimatorOptions o;
  o.kind = s.estimator == "single" ? EstimatorOptions::Kind::single : EstimatorOptions::Kind::paper;
  std::tie(o.lowest, o.highest) = parse_levels(s.levels.empty() ? "2:4" : s.levels);
  if (!s.most_p.empty()) o.most_p = parse_most_p(s.most_p);
  o.level_weight = Formula(s.level_weight, "--level-weight", {"l"});
  o.length_weight = Formula(s.length_weight, "--length-weight", {"p"});
  o.chain_length = Formula(s.chain_length, "--chain-length", {"p"});
  if (s.iterations > 0) o.iterations = s.iterations;
  if (!s.particles.empty()) o.particles = Rule(s.particles, "--particles");
  if (!s.law_particles.empty()) o.law_particles = Rule(s.law_particles, "--law-particles");
  o.seed = s.seed;
  o.chain = chain;
  o.chain.step = parse_step(s.step.empty() ? "1,0,0.7" : s.step);
  if (s.estimator == "paper" && s.smoother.empty()) o.chain.smoother = Smoother::genealogy;
  return o;
}

PilotOptions pilot_options(const FitSettings& s, const ChainOptions& chain) {
  PilotOptions o;
  if (!s.levels.empty()) o.levels = parse_levels(s.levels);
  if (!s.particles.empty()) o.particles = Rule(s.particles, "--particles");
  if (!s.law_particles.empty()) o.law_particles = Rule(s.law_particles, "--law-particles");
  if (!s.step.empty() && std::ranges::count(s.step, ',') < 2)
    throw InputError(fmt::format("--step {}: for the stratified estimator give all of G,N0,RHO or none", s.step));
  if (!s.step.empty()) o.step = parse_step(s.step);
  if (s.iterations > 0) o.iterations = s.iterations;
  if (s.first_tolerance > 0) o.tolerance = s.first_tolerance;
  if (!s.most_p.empty()) {
    const auto most = parse_most_p(s.most_p);
    if (!most) throw InputError("--p-max inf: the stratified estimator has a fixed number of cells; give a number");
    o.most_p = *most;
  }
  o.chain = chain;
  o.chain.antithetic_laws = true;
  return o;
}

}  // namespace

FitOptions fit_options(const FitSettings& s, const Model& model) {
  FitOptions o;
  o.estimator = s.estimator == "stratified"   ? Estimator::stratified
                : s.estimator == "paper"      ? Estimator::paper
                : s.estimator == "quadrature" ? Estimator::quadrature
                                              : Estimator::single;
  const ChainOptions chain = s.chain(model);
  if (o.estimator == Estimator::stratified)
    o.pilot = pilot_options(s, chain);
  else if (o.estimator == Estimator::quadrature)
    o.quadrature_level = s.levels.empty() ? o.quadrature_level : parse_levels(s.levels).second;
  else
    o.replicated = replicated_options(s, chain);
  o.starts = s.starts;
  if (s.replicates > 0) o.replicates = s.replicates;
  if (s.tolerance > 0) o.tolerance = s.tolerance;
  o.limited_time = !s.budget.empty();
  o.seed = s.seed;
  return o;
}

namespace {

Json to_json(const Model& model, const FitSettings& s, const FitResult& r, double seconds) {
  Json estimate = Json::object();
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const auto& bar = r.intervals[p];
    const auto field = [&bar](double Interval::*f) { return bar ? Json((*bar).*f) : Json(nullptr); };
    estimate[model.parameters()[p].name] = {{"value", r.value[p]},
                                            {"mc_se", r.mc_se[p]},
                                            {"std_error", field(&Interval::std_error)},
                                            {"lower", field(&Interval::lower)},
                                            {"upper", field(&Interval::upper)}};
  }
  Json out = {{"estimate", estimate},       {"cells", cells_json(model, r.cells)},
              {"replicates", r.replicates}, {"levels", {r.lowest, r.highest}},
              {"estimator", s.estimator},   {"seed", s.seed},
              {"seconds", seconds},         {"particle_steps", r.particle_steps},
              {"particles", r.particles},   {"law_particles", r.law_particles},
              {"iterations", r.iterations}, {"reprojections", r.reprojections},
              {"warnings", r.warnings}};
  if (r.loglik) {
    const auto k = static_cast<double>(model.parameters().size());
    out["loglik"] = {{"value", r.loglik->value}, {"se", r.loglik->se ? Json(*r.loglik->se) : Json(nullptr)}};
    out["aic"] = 2 * k - 2 * r.loglik->value;
  }
  return out;
}

void print_table(const Model& model, const FitSettings& s, const FitResult& r, double seconds) {
  fmt::print("{:<16} {:>11} {:>10} {:>10}   {:>10}\n", "parameter", "estimate", "MC error", "std. err.",
             "95 % interval");
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const auto& bar = r.intervals[p];
    fmt::print("{:<16} {:>11.6g} {:>10.2g} {:>10}   {:>10}\n", model.parameters()[p].name, r.value[p], r.mc_se[p],
               bar ? fmt::format("{:.3g}", bar->std_error) : "-",
               bar ? fmt::format("{:.5g} to {:.5g}", bar->lower, bar->upper) : "-");
  }
  if (r.loglik)
    fmt::print("log-likelihood {:.6g}{}, AIC {:.6g}\n", r.loglik->value,
               r.loglik->se ? fmt::format(" ± {:.2g}", *r.loglik->se) : "",
               2 * static_cast<double>(model.parameters().size()) - 2 * r.loglik->value);
  fmt::print("estimator {}, levels {} to {}, {} replicates, seed {}; {:.3g} particle-steps, {:.3g} s\n", s.estimator,
             r.lowest, r.highest, r.replicates, s.seed, static_cast<double>(r.particle_steps), seconds);
}
}  // namespace

void check_settings(const FitSettings& s, const Model& model, const Data& data) {
  s.require_parameters(model);
  require_enough(model, data);
  if (!s.budget.empty()) parse_duration(s.budget);
  const FitOptions options = fit_options(s, model);
  if (options.estimator == Estimator::quadrature) {
    const Quadrature refuses_what_it_cannot_do(model, data, s.unit, options.quadrature_level);
    return;
  }
  const bool replicated = options.estimator != Estimator::stratified;
  const auto levels = replicated ? std::pair(options.replicated.lowest, options.replicated.highest)
                                 : options.pilot.levels.value_or(std::pair(kRankLevel, kRankLevel));
  const Problem problem(model, data, s.unit, levels.first, s.seed);
  for (int l = levels.first; l <= levels.second; ++l) {
    const std::size_t times = problem.schedule(l).grid.points.size();
    if (!s.particles.empty()) Rule(s.particles, "--particles").at(l, levels.second, times, 2);
    if (!s.law_particles.empty()) Rule(s.law_particles, "--law-particles").at(l, levels.second, times);
  }
  if (replicated) MultilevelEstimator(problem, options.replicated);
}

void run_fit(World& world, Run& run, bool json) {
  const RunInput& input = run.input();
  const FitSettings s = FitSettings::from_json(input.settings);
  if (!s.budget.empty()) run.set_budget(parse_duration(s.budget));
  const Model model = parse_model(input.model, s.model, s.overrides());
  const Data data = parse_data(input.data, s.data, model.columns());
  s.require_parameters(model);
  std::vector<std::string> names;
  for (const auto& p : model.parameters()) names.push_back(p.name);
  run.name_parameters(names);
  const FitOptions options = fit_options(s, model);
  const Problem problem(model, data, s.unit,
                        options.estimator == Estimator::stratified ? kRankLevel : options.replicated.highest, s.seed);
  FitResult result;
  try {
    result = fit(problem, options, run.runner(), run.observer());
  } catch (const Stopped&) {
    if (world.first()) fmt::print(stderr, "mckean: {}\n", run.stopped_text());
    throw;
  }
  const Json out = to_json(model, s, result, run.seconds());
  run.finish(out);
  if (!world.first()) return;
  for (const auto& w : result.warnings) fmt::print(stderr, "mckean: warning: {}\n", w);
  if (json) return print_json(out);
  print_table(model, s, result, run.seconds());
  if (!run.folder().empty()) fmt::print("run kept in {}\n", run.folder().string());
}
}  // namespace mckean::cli
