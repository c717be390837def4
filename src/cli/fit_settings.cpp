#include "cli/fit_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/number.hpp"

namespace mckean::cli {

using Json = nlohmann::ordered_json;

FitSettings::FitSettings() { particles.clear(), law_particles.clear(); }

void FitSettings::add_to(CLI::App& app) {
  ChainCommand::add_to(app);
  add_gradient_to(app);
  app.add_option("--engine", engine,
                 "how the likelihood is computed: quadrature (exact, for one-dimensional states), particles, or auto: "
                 "quadrature where it serves at a bearable cost")
      ->check(CLI::IsMember({"auto", "quadrature", "particles"}))
      ->capture_default_str();
  app.add_option("--estimator", estimator,
                 "in place of a search by the likelihood, along chains of smoothed paths: stratified (centred, "
                 "preconditioned, a "
                 "fixed number of replicates in each cell), paper (the randomised multilevel estimator as printed), "
                 "single (one "
                 "level, --iterations long); quadrature: the same as --engine quadrature")
      ->check(CLI::IsMember({"stratified", "paper", "single", "quadrature"}));
  app.add_option("--levels", levels,
                 "lowest and highest level, LOW:HIGH; single and quadrature use the highest (default: chosen; 2:4 for "
                 "paper and single)");
  app.add_option("--replicates", replicates, "independent replicates (paper and single: 200)")
      ->check(whole_number(2, kMostReplicates));
  app.add_option(
         "--tolerance", tolerance,
         "until the Monte Carlo error of every parameter is below this (default: a tenth of its standard error)")
      ->check(positive_number());
  app.add_option("--budget", budget, "time after which no new work is begun: 90s, 10m, 2h");
  app.add_option("--iterations", iterations,
                 "iterations of a chain: T_0 of stratified (default: chosen), all of single (100)")
      ->check(whole_number(1, kMostIterations));
  app.add_option("--step", step,
                 "G,N0,RHO: the step is G*(N0 + n)^-RHO times the inverse observed information (paper and single: "
                 "complete-data information, 1,0,0.7)");
  app.add_option("--p-max", most_p, "largest p (stratified: 0; paper: 6, or inf for no bound)");
  app.add_option("--level-weight", level_weight, "paper: probability of level l, up to a factor")
      ->capture_default_str();
  app.add_option("--length-weight", length_weight, "paper: probability of p, up to a factor")->capture_default_str();
  app.add_option("--chain-length", chain_length, "paper: iterations of a chain of length p")->capture_default_str();
  app.add_option("--starts", starts,
                 "begin from so many starts, and report different maxima as such (default: 2, and more where they "
                 "disagree; stratified: 1)")
      ->check(whole_number(1, 1000));
  app.add_flag("--verbose", verbose, "print what is decided on the way");
  app.add_flag("--quiet", quiet, "no progress");
}

namespace {

// The options that not all estimators read, and which do.
struct Use {
  const char* option;
  std::vector<std::string> estimators;
};
const std::vector<Use>& uses() {
  static const std::vector<std::string> chains = {"stratified", "paper", "single"},
                                        random = {"search", "stratified", "paper", "single"};
  static const std::vector<Use> all = {{"--particles", random},
                                       {"--law-particles", random},
                                       {"--tolerance", random},
                                       {"--budget", random},
                                       {"--smoother", chains},
                                       {"--gradient", chains},
                                       {"--full-normals", chains},
                                       {"--replicates", chains},
                                       {"--step", chains},
                                       {"--iterations", {"stratified", "single"}},
                                       {"--p-max", {"stratified", "paper"}},
                                       {"--starts", {"search", "quadrature", "stratified"}},
                                       {"--level-weight", {"paper"}},
                                       {"--length-weight", {"paper"}},
                                       {"--chain-length", {"paper"}}};
  return all;
}

bool was_given(const CLI::App& command, const char* option) {
  const CLI::Option* o = command.get_option_no_throw(option);
  return o != nullptr && o->count() > 0;
}
}  // namespace

void FitSettings::understand(const CLI::App& command) {
  const auto is_rule = [](const std::string& text) { return !text.empty() && !parse_number(text).problem.empty(); };
  const bool named = was_given(command, "--estimator");
  if (named && estimator == "quadrature") engine = "quadrature", estimator = "search";
  if (!named) {
    bool chains = is_rule(particles) || is_rule(law_particles);
    for (const auto& [option, estimators] : uses())
      chains = chains || (was_given(command, option) && std::ranges::find(estimators, "search") == estimators.end() &&
                          std::ranges::find(estimators, "stratified") != estimators.end());
    if (chains) estimator = "stratified";
  }
  const bool particles_only = estimator != "search" || !particles.empty() || !law_particles.empty();
  if (particles_only && engine == "quadrature")
    throw InputError(fmt::format("--engine quadrature has no particles: leave out {}",
                                 estimator != "search"
                                     ? (named ? "--estimator " + estimator : "what only --estimator stratified reads")
                                     : "--particles and --law-particles"));
  if (particles_only) engine = "particles";
}

std::vector<std::string> FitSettings::without_use(const CLI::App& command) const {
  const std::string mine = engine == "quadrature" ? "quadrature" : estimator;
  std::vector<std::string> out;
  for (const auto& [option, estimators] : uses())
    if (was_given(command, option) && std::ranges::find(estimators, mine) == estimators.end())
      out.push_back(
          fmt::format("{} has no meaning for {}, only for {}", option,
                      mine == "search" ? "a search" : (mine == "quadrature" ? "--engine " : "--estimator ") + mine,
                      fmt::join(estimators, ", ")));
  return out;
}

namespace {

constexpr int kHighestP = 30;

// Nothing for "inf".
std::optional<int> parse_most_p(const std::string& text) {
  if (text == "inf") return std::nullopt;
  const Number n = parse_number(text);
  if (!n.problem.empty() || !(n.value >= 0 && n.value <= kHighestP) || n.value != std::floor(n.value))
    throw InputError(fmt::format("--p-max {}: a whole number from 0 to {} is expected, or inf", text, kHighestP));
  return static_cast<int>(n.value);
}

Estimator parse_estimator(const std::string& text) {
  return text == "stratified" ? Estimator::stratified
         : text == "paper"    ? Estimator::paper
         : text == "single"   ? Estimator::single
                              : Estimator::search;
}
}  // namespace

FitOptions FitSettings::options() const {
  FitOptions o;
  o.engine = engine;
  o.estimator = parse_estimator(estimator);
  if (!levels.empty()) o.levels = parse_levels(levels);
  o.particles = particles, o.law_particles = law_particles;
  o.smoother = chosen_smoother();
  o.finite_difference = finite_difference();
  if (o.estimator == Estimator::stratified && !step.empty() && std::ranges::count(step, ',') < 2)
    throw InputError(fmt::format("--step {}: for the stratified estimator give all of G,N0,RHO or none", step));
  if (!step.empty()) o.step = parse_step(step);
  if (iterations > 0) o.iterations = iterations;
  if (!most_p.empty()) o.most_p = parse_most_p(most_p);
  o.unbounded_p = !most_p.empty() && !o.most_p;
  o.level_weight = level_weight, o.length_weight = length_weight, o.chain_length = chain_length;
  if (starts > 0) o.starts = starts;
  if (replicates > 0) o.replicates = replicates;
  if (tolerance > 0) o.tolerance = tolerance;
  o.first_tolerance = first_tolerance;
  o.limited_time = !budget.empty();
  o.seed = seed;
  o.full_precision = full_normals;
  return o;
}

Json FitSettings::to_json() const {
  return {{"model", model},
          {"data", data},
          {"set", set},
          {"seed", seed},
          {"engine", engine},
          {"estimator", estimator},
          {"levels", levels},
          {"particles", particles},
          {"law_particles", law_particles},
          {"smoother", smoother},
          {"gradient", gradient},
          {"unit", unit},
          {"full_normals", full_normals},
          {"replicates", replicates},
          {"tolerance", tolerance},
          {"first_tolerance", tolerance},
          {"iterations", iterations},
          {"step", step},
          {"p_max", most_p},
          {"level_weight", level_weight},
          {"length_weight", length_weight},
          {"chain_length", chain_length},
          {"starts", starts},
          {"budget", budget}};
}

FitSettings FitSettings::from_json(const Json& j) {
  FitSettings s;
  const auto take = [&j](const char* key, auto& to) { j.at(key).get_to(to); };
  take("model", s.model), take("data", s.data), take("set", s.set), take("seed", s.seed);
  take("engine", s.engine), take("estimator", s.estimator), take("levels", s.levels);
  take("particles", s.particles), take("law_particles", s.law_particles);
  take("smoother", s.smoother), take("gradient", s.gradient);
  take("unit", s.unit), take("full_normals", s.full_normals);
  take("replicates", s.replicates), take("tolerance", s.tolerance), take("first_tolerance", s.first_tolerance),
      take("iterations", s.iterations);
  take("step", s.step), take("p_max", s.most_p), take("level_weight", s.level_weight);
  take("length_weight", s.length_weight), take("chain_length", s.chain_length), take("starts", s.starts);
  take("budget", s.budget);
  return s;
}

namespace {

// For a shell: as it is where that is safe, else in single quotes.
std::string shell_word(const std::string& text) {
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}
}  // namespace

// What differs from the defaults, so that the line is short; --seed in any case.
std::string FitSettings::command(const std::string& model_file, const std::string& data_file) const {
  std::string out = fmt::format("mckean fit {} {} --seed {}", shell_word(model_file), shell_word(data_file), seed);
  const Json mine = to_json(), usual = FitSettings().to_json();
  for (const auto& [key, value] : mine.items()) {
    if (key == "model" || key == "data" || key == "seed" || key == "first_tolerance" || value == usual[key]) continue;
    if (key == "engine" && estimator != "search") continue;  // it follows
    std::string option = "--" + key;
    std::ranges::replace(option, '_', '-');
    if (value.is_boolean())
      out += " " + option;
    else if (value.is_array())
      for (const Json& item : value) out += fmt::format(" {} {}", option, shell_word(item.get<std::string>()));
    else
      out += fmt::format(" {} {}", option, shell_word(value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return out;
}

double parse_duration(const std::string& text) {
  const std::string units = "smh";
  const double factors[] = {1, 60, 3600};
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  const Number n = parse_number(std::string_view(text).substr(0, text.size() - (unit == std::string::npos ? 0 : 1)));
  if (!n.problem.empty() || !(n.value > 0))
    throw InputError(fmt::format("--budget {}: a time such as 90s, 10m or 2h is expected", text));
  return n.value * (unit == std::string::npos ? 1 : factors[unit]);
}
}  // namespace mckean::cli
