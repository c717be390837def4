#include "cli/run_fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/advice.hpp"
#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/running.hpp"
#include "infer/fit.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

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

Json maybe(const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); }
Json finite(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }
Json positive(std::size_t n) { return n > 0 ? Json(n) : Json(nullptr); }

Json estimate_json(const Model& model, const FitResult& r) {
  Json out = Json::object();
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const Interval& i = r.intervals[p];
    Json& e = out[model.parameters()[p].name] = {{"value", r.value[p]},
                                                 {"mc_se", finite(r.mc_se[p])},
                                                 {"std_error", maybe(i.std_error)},
                                                 {"lower", maybe(i.lower)},
                                                 {"upper", maybe(i.upper)}};
    if (i.at_bound != AtBound::none) e["at_bound"] = i.at_bound == AtBound::lower ? "lower" : "upper";
  }
  return out;
}

// Null for parameters that are not determined.
Json covariance_json(const FitResult& r) {
  if (r.covariance.empty()) return nullptr;
  const auto known = [&](std::size_t p) {
    return r.intervals[p].std_error.has_value() || r.intervals[p].at_bound != AtBound::none;
  };
  Json out = Json::array();
  for (std::size_t i = 0; i < r.covariance.size(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < r.covariance.size(); ++j)
      row.push_back(known(i) && known(j) ? Json(r.covariance[i][j]) : Json(nullptr));
    out.push_back(std::move(row));
  }
  return out;
}

// In continuous time those that were extrapolated.
Json levels_json(const FitResult& r) { return r.highest == kContinuous ? Json::array() : Json{r.lowest, r.highest}; }

Json to_json(const Model& model, const Arguments& s, const FitResult& r, const std::vector<std::string>& warnings,
             double seconds) {
  Json maxima = Json::array();
  for (const LocalMaximum& m : r.maxima)
    maxima.push_back({{"loglik", m.loglik}, {"estimate", parameters_json(model, m.theta)}});
  Json out = {{"estimate", estimate_json(model, r)},
              {"covariance", covariance_json(r)},
              {"engine", r.engine},
              {"converged", r.converged},
              {"cells", cells_json(model, r.cells)},
              {"maxima", maxima},
              {"replicates", r.exact || r.estimator == "search" ? Json(nullptr) : Json(r.replicates)},
              {"levels", levels_json(r)},
              {"proposal", r.exact ? Json(nullptr) : Json(r.ahead ? "ahead" : "plain")},
              {"scheme", r.continuous ? Json(nullptr) : Json(name_of(r.scheme))},
              {"continuous", r.continuous},
              {"estimator", r.exact ? Json(nullptr) : Json(r.estimator)},
              {"seed", s.seed},
              {"seconds", seconds},
              {"particle_steps", r.particle_steps},
              {"particles", positive(r.particles)},
              {"law_particles", positive(r.law_particles)},
              {"evaluations", positive(r.evaluations)},
              {"iterations", r.iterations},
              {"reprojections", r.reprojections},
              {"warnings", warnings},
              {"findings", findings_json(r.findings)}};
  if (r.loglik) {
    const auto k = static_cast<double>(model.parameters().size());
    out["loglik"] = {{"value", r.loglik->value}, {"se", maybe(r.loglik->se)}};
    out["aic"] = 2 * k - 2 * r.loglik->value;
  }
  return out;
}

std::string interval_text(const Interval& i) {
  const auto end = [](const std::optional<double>& v) { return v ? fmt::format("{:.5g}", *v) : "?"; };
  if (!i.lower && !i.upper) return "-";
  if (i.at_bound == AtBound::lower) return fmt::format("below {}", end(i.upper));
  if (i.at_bound == AtBound::upper) return fmt::format("above {}", end(i.lower));
  if (!i.upper) return fmt::format("above {}", end(i.lower));
  if (!i.lower) return fmt::format("below {}", end(i.upper));
  return fmt::format("{} to {}", end(i.lower), end(i.upper));
}

std::string steps_text(const FitResult& r) {
  if (r.highest == kContinuous) return "continuous time";
  const std::string work = fmt::format("{:.3g} grid steps", static_cast<double>(r.particle_steps));
  if (r.continuous) return fmt::format("continuous time from levels {} to {}; {}", r.lowest, r.highest, work);
  return fmt::format("level {}; {}", r.highest, work);
}

void print_table(const Model& model, const Arguments& s, const FitResult& r, double seconds) {
  fmt::print("{:<16} {:>11} {:>10} {:>10}   {:>10}\n", "parameter", "estimate", "MC error", "std. err.",
             "95 % interval");
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const Interval& i = r.intervals[p];
    fmt::print("{:<16} {:>11.6g} {:>10} {:>10}   {:>10}\n", model.parameters()[p].name, r.value[p],
               std::isfinite(r.mc_se[p]) ? fmt::format("{:.2g}", r.mc_se[p]) : "-",
               i.std_error ? fmt::format("{:.3g}", *i.std_error) : "-", interval_text(i));
  }
  if (r.loglik)
    fmt::print("log-likelihood {:.6g}{}, AIC {:.6g}\n", r.loglik->value,
               r.loglik->se && !r.exact ? fmt::format(" ± {:.2g}", *r.loglik->se) : "",
               2 * static_cast<double>(model.parameters().size()) - 2 * r.loglik->value);
  if (!r.converged) fmt::print("NOT CONVERGED: not to be relied on\n");
  std::string how;
  if (r.exact)
    how = fmt::format("{}, {}", r.engine, steps_text(r));
  else if (r.estimator == "search")
    how = fmt::format("search, {} steps of level {}, {} particles{}, {} evaluations, seed {}; {:.3g} particle-steps",
                      name_of(r.scheme), r.highest, r.particles, r.ahead ? " that look ahead" : "", r.evaluations,
                      s.seed, static_cast<double>(r.particle_steps));
  else
    how = fmt::format("estimator {}, levels {} to {}, {} replicates, seed {}; {:.3g} particle-steps", r.estimator,
                      r.lowest, r.highest, r.replicates, s.seed, static_cast<double>(r.particle_steps));
  fmt::print("{}, {:.3g} s\n", how, seconds);
}
}  // namespace

// Everything that a fit needs is in the input of its run.
void run_fit(const Arguments& given, World& world) {
  const StopSignals signals;
  const bool resumed = !given.folder.empty(), json = given.json;
  Run run = resumed ? reopen_fit(given, world) : begin_fit(given, world);
  const RunInput& input = run.input();
  const Arguments s = read_settings(object_of(input.settings));
  if (!s.budget.empty()) run.set_budget(parse_duration(s.budget));
  const Model model = parse_model(input.model, s.model, s.overrides());
  const Data data = parse_data(input.data, s.data, model.columns());
  require_parameters(s, model);
  std::vector<std::string> names;
  for (const auto& p : model.parameters()) names.push_back(p.name);
  run.name_parameters(names);
  FitResult result;
  const auto tell_stop = [&](bool with_estimate) {
    if (world.first()) fmt::print(stderr, "mckean: {}\n", run.stopped_text(with_estimate));
  };
  try {
    result = fit({model, data, s.unit}, plan_fit(model, fit_options(s)), run.runner(), run.observer());
  } catch (const Stopped&) {
    tell_stop(true);
    throw;
  }
  std::vector<std::string> warnings = warning_texts(result.findings);
  if (result.exact && s.engine == "auto" && s.tolerance > 0)
    warnings.push_back(fmt::format("--tolerance is for particles; the answer of {} is exact", result.engine));
  const Json out = to_json(model, s, result, warnings, run.seconds());
  if (!result.stopped) run.finish(text_of(out));
  if (world.first()) {
    for (const auto& w : warnings) fmt::print(stderr, "mckean: warning: {}\n", w);
    if (json)
      print_json(out);
    else
      print_table(model, s, result, run.seconds());
    if (!json && !run.folder().empty() && !result.stopped) fmt::print("run kept in {}\n", run.folder().string());
  }
  if (result.stopped) {
    tell_stop(false);
    throw Stopped{};
  }
  if (!result.converged) throw Unreliable{};
}
}  // namespace mckean::cli
