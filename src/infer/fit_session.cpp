// A fit in one call, for whoever embeds the library: it runs where the session says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "infer/fit.hpp"
#include "mckean/simulate.hpp"

namespace mckean {
namespace {

using Json = nlohmann::ordered_json;

// Everything that the result depends on, so that a folder that holds another fit is refused.
std::string settings_of(const FitOptions& o, double unit) {
  const auto maybe = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const StepRule step = o.step.value_or(StepRule{0});
  return Json{{"fit", "by a program that uses the library"},
              {"engine", o.engine},
              {"estimator", static_cast<int>(o.estimator)},
              {"levels", maybe(o.levels)},
              {"particles", o.particles},
              {"law_particles", o.law_particles},
              {"smoother", o.smoother ? Json(static_cast<int>(*o.smoother)) : Json(nullptr)},
              {"finite_difference", o.finite_difference},
              {"step", {step.gamma, step.n0, step.rho}},
              {"iterations", maybe(o.iterations)},
              {"p_max", maybe(o.most_p)},
              {"unbounded_p", o.unbounded_p},
              {"level_weight", o.level_weight},
              {"length_weight", o.length_weight},
              {"chain_length", o.chain_length},
              {"starts", maybe(o.starts)},
              {"replicates", maybe(o.replicates)},
              {"tolerance", maybe(o.tolerance)},
              {"first_tolerance", maybe(o.first_tolerance)},
              {"limited_time", o.limited_time},
              {"seed", o.seed},
              {"unit", unit},
              {"full_normals", o.full_precision}}
      .dump();
}

// What was understood of a model, however it was built.
std::string text_of(const Model& model) {
  std::string out = fmt::format("model {}\n", model.name());
  for (const Parameter& p : model.parameters())
    out += fmt::format("parameter {} from {} in ({}, {})\n", p.name, p.start, p.lower, p.upper);
  for (const Component& c : model.components()) {
    std::vector<std::string> row;
    for (const Expr e : c.diffusion) row.push_back(to_text(e));
    out += fmt::format("state {} from {} sd {}: drift {}, diffusion {}\n", c.name, c.start, c.start_sd,
                       to_text(c.drift), fmt::join(row, ", "));
  }
  for (const Interaction& i : model.interactions())
    out += fmt::format("interaction {}: {}\n", i.name, to_text(i.kernel));
  for (const ObservedColumn& y : model.observed())
    out += fmt::format("observation {}: {}\n", y.name, to_text(y.log_density));
  return out;
}

std::string result_of(const FitResult& r) {
  const auto known = [](double v) { return std::isnan(v) ? Json(nullptr) : Json(v); };
  Json estimate = Json::object();
  for (const FitParameter& p : r.parameters)
    estimate[p.name] = {{"value", p.value},
                        {"mc_se", known(p.mc_se)},
                        {"std_error", known(p.std_error)},
                        {"lower", known(p.lower)},
                        {"upper", known(p.upper)}};
  Json warnings = Json::array();
  for (const Finding& f : r.findings) warnings.push_back(to_text(f));
  return Json{{"estimate", estimate}, {"engine", r.engine}, {"converged", r.converged}, {"warnings", warnings}}.dump();
}
}  // namespace

std::vector<FitParameter> named_parameters(const Model& model, const FitResult& r) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<FitParameter> out;
  for (std::size_t p = 0; p < r.value.size(); ++p) {
    const Interval& i = r.intervals[p];
    out.push_back({model.parameters()[p].name, r.value[p], r.mc_se[p], i.std_error.value_or(kUnknown),
                   i.lower.value_or(kUnknown), i.upper.value_or(kUnknown)});
  }
  return out;
}

FitResult fit(const Problem& problem, const FitOptions& options, const SessionOptions& where) {
  const Model& model = problem.model();
  const Data& data = problem.data();
  if (data.columns != model.columns())
    throw InputError(fmt::format("the data have the columns {}, and the model observes {}; give the same, in its order",
                                 fmt::join(data.columns, ", "), fmt::join(model.columns(), ", ")));
  Session session(where, {settings_of(options, problem.unit()), text_of(model), to_csv(data)});
  FitResult result = fit(problem, options, session.runner(), session.observer());
  if (!result.stopped) session.finish(result_of(result));
  return result;
}
}  // namespace mckean
