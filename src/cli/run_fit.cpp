#include <fmt/format.h>

#include "cli/run_fit.hpp"

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
  if (!s.budget.empty()) parse_duration(s.budget);
  check_fit(model, data, s.options());
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
  FitResult result;
  try {
    result = fit(model, data, s.options(), run.runner(), run.observer());
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
