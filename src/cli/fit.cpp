#include <fmt/format.h>

#include <cmath>

#include "cli/chain_options.hpp"
#include "estimate/information.hpp"
#include "estimate/multilevel.hpp"
#include "mckean/data.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : ChainCommand {
  std::string estimator = "paper", levels = "2:4", step = "1,0,0.7", most_p = "6";
  double level_exponent = 0.25;
  std::size_t replicates = 200, iterations = 100;
};

// Chains for information matrices have replicate numbers that no replicate of the estimator has.
constexpr std::uint32_t kFirstHeld = 1u << 23;
constexpr std::size_t kHeldChains = 8;

HeldMoments hold_all(const Problem& problem, const ChainOptions& chain, int level, const Options& o,
                     const HoldOptions& held, std::uint32_t first) {
  std::vector<HeldMoments> all(kHeldChains);
  parallel_for(kHeldChains, o.threads, [&](std::size_t r) {
    all[r] = hold(problem, chain, {o.seed, first + static_cast<std::uint32_t>(r), level}, held);
  });
  return average(all);
}

// The inverse of the complete-data information at θ_0: steps of its size cannot overshoot. Directions that it does not
// determine are left as they are.
Eigen::MatrixXd default_scale(const Problem& problem, ChainOptions chain, int level, const Options& o,
                              std::vector<std::string>& warnings) {
  const HeldMoments m =
      hold_all(problem, chain, level, o, {.iterations = 10, .burn_in = 10, .curvature = false}, kFirstHeld);
  const Eigen::MatrixXd information = on_line(problem.model(), chain.start, m.complete);
  for (Eigen::Index p = 0; p < information.rows(); ++p)
    if (!(information(p, p) > 0))
      throw NumericalError(
          fmt::format("neither dynamics nor observations depend on '{}' at its start; it cannot be estimated: make it "
                      "a constant, or "
                      "start elsewhere with --set",
                      problem.model().parameters()[static_cast<std::size_t>(p)].name));
  if (const auto inverse = inverse_if_positive(information)) return *inverse;
  warnings.push_back(
      "the information at the start is nearly singular: some combination of the parameters is not determined");
  return information.diagonal().cwiseInverse().asDiagonal();
}

struct Interval {
  double std_error, lower, upper;
};

// From the observed information at the estimate; intervals on the line, so that they respect bounds.
std::vector<std::optional<Interval>> intervals(const Problem& problem, ChainOptions chain,
                                               const EstimateSummary& estimate, int level, const Options& o,
                                               std::vector<std::string>& warnings, std::uint64_t& steps) {
  const Model& model = problem.model();
  std::vector<std::optional<Interval>> out(model.parameters().size());
  for (std::size_t p = 0; p < out.size(); ++p)
    if (!model.parameters()[p].contains(estimate.value[p])) {
      warnings.push_back(fmt::format("the estimate of '{}' lies outside its bounds; take more replicates",
                                     model.parameters()[p].name));
      return out;
    }
  chain.start = estimate.value;
  const HeldMoments m = hold_all(problem, chain, level, o, {.iterations = 60, .burn_in = 20}, kFirstHeld + 1000);
  steps += m.particle_steps;
  const Eigen::MatrixXd information = observed_information(m);
  const auto covariance = inverse_if_positive(information),
             line = inverse_if_positive(on_line(model, estimate.value, information));
  if (!covariance || !line) {
    warnings.push_back(
        "the observed information is not positive definite at the estimate: the estimate is not at a maximum, or some "
        "combination of the "
        "parameters is not determined; no standard errors");
    return out;
  }
  for (std::size_t p = 0; p < out.size(); ++p) {
    const auto i = static_cast<Eigen::Index>(p);
    const Parameter& parameter = model.parameters()[p];
    const double u = parameter.to_line(estimate.value[p]), reach = 1.959963984540054 * std::sqrt((*line)(i, i));
    const double a = parameter.from_line(u - reach), b = parameter.from_line(u + reach);
    out[p] = Interval{std::sqrt((*covariance)(i, i)), std::min(a, b), std::max(a, b)};
  }
  return out;
}

Json cells_json(const Model& model, const EstimateSummary& estimate) {
  Json cells = Json::array();
  for (const Cell& c : estimate.cells)
    cells.push_back({{"level", c.level},
                     {"p", c.p},
                     {"count", c.count},
                     {"mean", parameters_json(model, c.mean)},
                     {"sd", parameters_json(model, c.sd)},
                     {"particle_steps", c.particle_steps}});
  return cells;
}

void run(const Options& o) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  const auto [lowest, highest] = parse_levels(o.levels);
  EstimatorOptions settings;
  settings.kind = o.estimator == "paper" ? EstimatorOptions::Kind::paper : EstimatorOptions::Kind::single;
  settings.lowest = lowest, settings.highest = highest;
  settings.most_p =
      o.most_p == "inf" ? std::nullopt : std::optional(static_cast<int>(Rule(o.most_p, "--p-max").at(0, 0, 0, 0)));
  settings.level_exponent = o.level_exponent;
  settings.iterations = o.iterations;
  settings.particles = Rule(o.particles, "--particles");
  settings.law_particles = Rule(o.law_particles, "--law-particles");
  settings.seed = o.seed;
  settings.chain = o.chain(model);
  settings.chain.step = parse_step(o.step);
  const Problem problem(model, data, o.unit, highest, o.seed);
  const std::size_t times = problem.schedule(highest).grid.points.size();

  std::vector<std::string> warnings;
  ChainOptions held = settings.chain;  // information by the better smoother, whatever the estimator uses
  held.smoother = can_sample_backward(model) ? Smoother::backward : Smoother::genealogy;
  o.set_particles(held, lowest, highest, times);
  settings.chain.precondition = default_scale(problem, held, lowest, o, warnings);
  if (o.estimator == "paper" && o.smoother.empty()) settings.chain.smoother = Smoother::genealogy;

  const MultilevelEstimator estimator(problem, settings);
  std::vector<Replicate> replicates(o.replicates);
  parallel_for(o.replicates, o.threads,
               [&](std::size_t r) { replicates[r] = estimator(static_cast<std::uint32_t>(r)); });
  EstimateSummary estimate = summarise(std::span<const Replicate>(replicates));
  if (estimate.reprojections > 0)
    warnings.push_back(
        fmt::format("{} times a chain left its compact set and was returned to the start", estimate.reprojections));
  o.set_particles(held, highest, highest, times);
  const auto bars = intervals(problem, held, estimate, highest, o, warnings, estimate.particle_steps);

  for (const auto& w : warnings) fmt::print(stderr, "mckean: warning: {}\n", w);
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
                       {"warnings", warnings}});
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
      ->check(whole_number(2, kFirstHeld))
      ->capture_default_str();
  command->add_option("--iterations", o->iterations, "iterations of --estimator single")
      ->check(whole_number(1, kMostIterations))
      ->capture_default_str();
  command
      ->add_option("--step", o->step,
                   "G,N0,RHO: the step is G*(N0 + n)^-RHO times the inverse complete-data information")
      ->capture_default_str();
  command->add_option("--p-max", o->most_p, "longest chains of --estimator paper: 2^p-max iterations; inf for no bound")
      ->capture_default_str();
  command->add_option("--level-exponent", o->level_exponent, "P_L(l) ~ 2^(-l*exponent)")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command->callback([o] { run(*o); });
}
}  // namespace mckean::cli
