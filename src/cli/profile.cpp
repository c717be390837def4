#include "infer/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/advice.hpp"
#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/exact_answer.hpp"
#include "cli/plot.hpp"
#include "cli/running.hpp"
#include "expr/parse.hpp"
#include "infer/checks.hpp"
#include "mckean/data.hpp"
#include "model/number.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

std::size_t parameter_index(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& p : model.parameters()) names.push_back(p.name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw InputError(fmt::format("--parameter {}: the model has no such parameter; {}", name, suggestion(name, names)));
  return static_cast<std::size_t>(found - names.begin());
}

std::pair<double, double> parse_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const Number low = parse_number(std::string_view(text).substr(0, colon));
    const Number high = parse_number(std::string_view(text).substr(colon + 1));
    if (low.problem.empty() && high.problem.empty() && low.value < high.value) return {low.value, high.value};
  }
  throw InputError(fmt::format("--range {}: LO:HI is expected, two numbers, the lower one first", text));
}

// The first exact one that serves, unless another is asked for.
std::string engine_of(const Arguments& o, const Problem& problem) {
  Arguments meant = o;
  if (o.estimator == "quadrature") meant.engine = o.estimator;
  std::string asked = o.estimator == "scores" ? "particles" : asked_engine(meant);
  if (asked != "auto") return asked;
  const auto kinds = engine_kinds();
  return std::ranges::find_if(kinds, [&](const EngineKind& k) { return !k.refuses(problem); })->name;
}

ProfileOptions profile_options(const Arguments& o, const Problem& problem) {
  const Model& model = problem.model();
  ProfileOptions p;
  p.parameter = parameter_index(model, o.parameter);
  p.points = o.points;
  if (!o.range.empty()) p.range = parse_range(o.range);
  p.seed = o.seed;
  p.level = o.level;
  p.engine = engine_of(o, problem);
  if (p.engine != "particles") return p;
  if (o.level) p.pilot.levels = {*o.level, *o.level};
  if (!o.particles.empty()) p.pilot.particles = Rule(o.particles, "particles");
  if (!o.law_particles.empty()) p.pilot.law_particles = Rule(o.law_particles, "law_particles");
  p.pilot.chain = chain_options(model, chosen_smoother(o), finite_difference(o), o.full_normals);
  p.pilot.chain.antithetic_laws = true;
  return p;
}

// The profiled parameter first.
std::vector<std::size_t> column_order(const Model& model, std::size_t first) {
  std::vector<std::size_t> order{first};
  for (std::size_t p = 0; p < model.parameters().size(); ++p)
    if (p != first) order.push_back(p);
  return order;
}

std::string to_csv(const Model& model, const ProfileOptions& options, const Profile& profile) {
  const auto order = column_order(model, options.parameter);
  std::string text = model.parameters()[order[0]].name + ",loglik,relative,se";
  for (std::size_t i = 1; i < order.size(); ++i) text += "," + model.parameters()[order[i]].name;
  text += "\n";
  for (const ProfilePoint& point : profile.points) {
    text += fmt::format("{},{},{},{}", number_to_text(point.theta[order[0]]),
                        profile.loglik ? number_to_text(profile.loglik->value + point.relative) : "",
                        number_to_text(point.relative), number_to_text(point.error));
    for (std::size_t i = 1; i < order.size(); ++i) text += "," + number_to_text(point.theta[order[i]]);
    text += "\n";
  }
  return text;
}

std::string how(const ProfileOptions& options) { return options.engine == "particles" ? "scores" : options.engine; }

Json to_json(const Arguments& o, const Model& model, const ProfileOptions& options, const Profile& profile,
             const std::vector<std::string>& warnings) {
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  Json points = Json::array();
  for (const ProfilePoint& point : profile.points)
    points.push_back({{"value", point.theta[options.parameter]},
                      {"loglik", profile.loglik ? Json(profile.loglik->value + point.relative) : Json(nullptr)},
                      {"relative", point.relative},
                      {"se", point.error},
                      {"parameters", parameters_json(model, point.theta)}});
  Json loglik = nullptr;
  if (profile.loglik) loglik = {{"value", profile.loglik->value}, {"se", maybe(profile.loglik->se)}};
  return {{"parameter", o.parameter},
          {"points", points},
          {"estimate", parameters_json(model, profile.estimate)},
          {"std_error", maybe(profile.std_error)},
          {"lower", maybe(profile.lower)},
          {"upper", maybe(profile.upper)},
          {"loglik", loglik},
          {"engine", options.engine},
          {"estimator", how(options)},
          {"level", profile.level ? Json(*profile.level) : Json(nullptr)},
          {"levels", profile.levels},
          {"seed", o.seed},
          {"particle_steps", profile.particle_steps},
          {"warnings", warnings},
          {"findings", findings_json(profile.findings)}};
}

void print_table(const Model& model, const ProfileOptions& options, const Profile& profile) {
  const auto order = column_order(model, options.parameter);
  fmt::print("{:>12} {:>13} {:>10} {:>9}", model.parameters()[order[0]].name, "log-lik.", "relative", "MC error");
  for (std::size_t i = 1; i < order.size(); ++i) fmt::print(" {:>11}", model.parameters()[order[i]].name);
  fmt::print("\n");
  for (const ProfilePoint& point : profile.points) {
    fmt::print("{:>12.6g} {:>13} {:>10.4f} {:>9.2g}", point.theta[order[0]],
               profile.loglik ? fmt::format("{:.4f}", profile.loglik->value + point.relative) : "-", point.relative,
               point.error);
    for (std::size_t i = 1; i < order.size(); ++i) fmt::print(" {:>11.6g}", point.theta[order[i]]);
    fmt::print("\n");
  }
}

void print_plot(const Model& model, const ProfileOptions& options, const Profile& profile) {
  // Between grid points the signed root is interpolated: there the curve is nearly straight.
  const double top = profile.estimate[options.parameter];
  std::vector<std::pair<double, double>> roots{{top, 0}};
  std::vector<double> marks;
  for (const ProfilePoint& point : profile.points) {
    const double value = point.theta[options.parameter];
    marks.push_back(value);
    if (value != top) roots.emplace_back(value, signed_root(point.relative, value > top));
  }
  std::ranges::sort(roots), std::ranges::sort(marks);
  const auto curve = [&roots](double x) {
    auto b = std::ranges::lower_bound(roots, std::pair{x, -1e300});
    b = std::clamp(b, roots.begin() + 1, roots.end() - 1);
    const auto a = b - 1;
    const double root = a->second + (b->second - a->second) * (x - a->first) / (b->first - a->first);
    return -root * root / 2;
  };
  fmt::print("\n{}",
             plot(curve, marks, {.level = -kFallOfInterval, .x_name = model.parameters()[options.parameter].name}));
}

void print_summary(const Model& model, const ProfileOptions& options, const Profile& profile, double seconds) {
  const std::string& name = model.parameters()[options.parameter].name;
  fmt::print("\n{} = {:.6g}", name, profile.estimate[options.parameter]);
  if (profile.std_error) fmt::print(", standard error {:.3g}", *profile.std_error);
  const auto end = [](const std::optional<double>& v) { return v ? fmt::format("{:.5g}", *v) : "beyond the grid"; };
  fmt::print("; 95 % interval of the likelihood ratio: {} to {}\n", end(profile.lower), end(profile.upper));
  fmt::print("{}, {}, seed {}; {:.3g} s\n", how(options), steps_text(profile.level, profile.levels), options.seed,
             seconds);
}
}  // namespace

void run_profile(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Problem given(model, read_data(o.data, model.columns()), o.unit);
  require_parameters(o, model);
  const ProfileOptions options = profile_options(o, given);
  if (!o.out.empty() && world.first()) require_writable(o.out);
  const ParticleProblem problem(given, o.level.value_or(EngineOptions().level), o.seed);
  Profile found =
      without_store(world, o, [&](Run& run) { return profile(problem, options, run.runner(), run.observer()); });
  if (!world.first()) return;
  const std::vector<std::string> warnings = warning_texts(found.findings);
  for (const auto& w : warnings) fmt::print(stderr, "mckean: warning: {}\n", w);
  if (!o.out.empty()) write_file(o.out, to_csv(model, options, found));
  if (o.json) {
    Json json = to_json(o, model, options, found, warnings);
    json["seconds"] = clock.seconds();
    if (!o.out.empty()) json["out"] = o.out;
    return print_json(json);
  }
  if (o.out == "-") return;
  print_table(model, options, found);
  print_plot(model, options, found);
  print_summary(model, options, found, clock.seconds());
  if (!o.out.empty()) fmt::print("wrote {}\n", o.out);
}
}  // namespace mckean::cli
