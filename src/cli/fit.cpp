#include <fmt/format.h>

#include <cmath>

#include "cli/chain_options.hpp"
#include "estimate/fit.hpp"
#include "mckean/data.hpp"
#include "model/number.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : ChainCommand {
  std::string estimator = "paper", levels = "2:4", step = "1,0,0.7", most_p = "6";
  std::string level_weight = "2^(-l/4)", length_weight = "2^-p*(p + 1)*log(p + 2)^2", chain_length = "2^p";
  std::size_t replicates = 200, iterations = 100;
};

constexpr int kHighestP = 30;

Json cells_json(const Model& model, const EstimateSummary& estimate) {
  Json cells = Json::array(), no_values = Json::object();  // one replicate has no spread
  for (const auto& p : model.parameters()) no_values[p.name] = nullptr;
  for (const Cell& c : estimate.cells)
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

void run(const Options& o) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  const auto [lowest, highest] = parse_levels(o.levels);
  EstimatorOptions settings;
  settings.kind = o.estimator == "paper" ? EstimatorOptions::Kind::paper : EstimatorOptions::Kind::single;
  settings.lowest = lowest, settings.highest = highest;
  settings.most_p = parse_most_p(o.most_p);
  settings.level_weight = Formula(o.level_weight, "--level-weight", {"l"});
  settings.length_weight = Formula(o.length_weight, "--length-weight", {"p"});
  settings.chain_length = Formula(o.chain_length, "--chain-length", {"p"});
  settings.iterations = o.iterations;
  settings.particles = Rule(o.particles, "--particles");
  settings.law_particles = Rule(o.law_particles, "--law-particles");
  settings.seed = o.seed;
  o.require_parameters(model);
  settings.chain = o.chain(model);
  settings.chain.step = parse_step(o.step);
  const Problem problem(model, data, o.unit, highest, o.seed);
  if (o.estimator == "paper" && o.smoother.empty()) settings.chain.smoother = Smoother::genealogy;
  const FitResult fitted = fit(problem, settings, o.replicates,
                               [&](std::size_t count, const auto& task) { parallel_for(count, o.threads, task); });
  const EstimateSummary& estimate = fitted.estimate;
  const auto& bars = fitted.intervals;

  for (const auto& w : fitted.warnings) fmt::print(stderr, "mckean: warning: {}\n", w);
  Json result = Json::object();
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const auto bar = [&](double Interval::*field) { return bars[p] ? Json((*bars[p]).*field) : Json(nullptr); };
    result[model.parameters()[p].name] = {{"value", estimate.value[p]},
                                          {"mc_se", estimate.mc_se[p]},
                                          {"std_error", bar(&Interval::std_error)},
                                          {"lower", bar(&Interval::lower)},
                                          {"upper", bar(&Interval::upper)}};
  }
  if (o.json)
    return print_json({{"estimate", result},
                       {"cells", cells_json(model, estimate)},
                       {"replicates", o.replicates},
                       {"levels", {lowest, highest}},
                       {"estimator", o.estimator},
                       {"seed", o.seed},
                       {"seconds", clock.seconds()},
                       {"particle_steps", estimate.particle_steps},
                       {"reprojections", estimate.reprojections},
                       {"warnings", fitted.warnings}});
  fmt::print("{:<16} {:>11} {:>10} {:>10} {:>23}\n", "parameter", "estimate", "MC error", "std. err.", "95 % interval");
  for (std::size_t p = 0; p < model.parameters().size(); ++p)
    fmt::print("{:<16} {:>11.6g} {:>10.2g} {:>10} {:>23}\n", model.parameters()[p].name, estimate.value[p],
               estimate.mc_se[p], bars[p] ? fmt::format("{:.3g}", bars[p]->std_error) : "-",
               bars[p] ? fmt::format("{:.5g} to {:.5g}", bars[p]->lower, bars[p]->upper) : "-");
  fmt::print("estimator {}, levels {} to {}, {} replicates, seed {}; {:.3g} particle-steps, {:.3g} s\n", o.estimator,
             lowest, highest, o.replicates, o.seed, static_cast<double>(estimate.particle_steps), clock.seconds());
}
}  // namespace

void add_fit(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("fit", "maximum-likelihood estimate with standard errors");
  o->add_to(*command);
  command
      ->add_option("--estimator", o->estimator,
                   "paper: the randomised multilevel estimator; single: one level, --iterations long")
      ->check(CLI::IsMember({"paper", "single"}))
      ->capture_default_str();
  command->add_option("--levels", o->levels, "lowest and highest level; single uses the highest")
      ->capture_default_str();
  command->add_option("--replicates", o->replicates, "independent replicates that are averaged")
      ->check(whole_number(2, kMostReplicates))
      ->capture_default_str();
  command->add_option("--iterations", o->iterations, "iterations of --estimator single")
      ->check(whole_number(1, kMostIterations))
      ->capture_default_str();
  command
      ->add_option("--step", o->step,
                   "G,N0,RHO: the step is G*(N0 + n)^-RHO times the inverse complete-data information")
      ->capture_default_str();
  command->add_option("--p-max", o->most_p, "largest p of --estimator paper; inf for no bound")->capture_default_str();
  command->add_option("--level-weight", o->level_weight, "probability of level l, up to a factor")
      ->capture_default_str();
  command->add_option("--length-weight", o->length_weight, "probability of p, up to a factor")->capture_default_str();
  command->add_option("--chain-length", o->chain_length, "iterations of a chain of length p")->capture_default_str();
  command->callback([o] { run(*o); });
}
}  // namespace mckean::cli
