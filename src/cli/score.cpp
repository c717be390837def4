#include "mckean/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/advice.hpp"
#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/exact_answer.hpp"
#include "cli/running.hpp"
#include "mckean/data.hpp"

namespace mckean::cli {
namespace {

void print_exact(const Arguments& o, const Model& model, const ExactAnswer& exact, World& world,
                 const Stopwatch& clock) {
  if (!world.first()) return;
  const std::vector<double>&gradient = exact.value.gradient, theta = model.start_values();
  if (o.json) {
    nlohmann::ordered_json score = nlohmann::ordered_json::object();
    for (std::size_t p = 0; p < theta.size(); ++p)
      score[model.parameters()[p].name] = {{"value", gradient[p]}, {"se", 0.0}};
    nlohmann::ordered_json out = {{"score", score}};
    out.update(exact.settings(o));
    out["seconds"] = clock.seconds();
    out["particle_steps"] = static_cast<std::uint64_t>(exact.value.work);
    out["parameters"] = parameters_json(model, theta);
    return print_json(out);
  }
  fmt::print("{:<16} {:>14} {:>14}\n", "parameter", "at", "score");
  for (std::size_t p = 0; p < theta.size(); ++p)
    fmt::print("{:<16} {:>14.6g} {:>14.6g}\n", model.parameters()[p].name, theta[p], gradient[p]);
  fmt::print("{}, {}; {:.3g} s\n", exact.engine, exact.steps(), clock.seconds());
}
bool score_sizes_given(const Arguments& o) {
  return std::ranges::any_of(std::array{"--level", "--unit", "--particles", "--law-particles", "--smoother",
                                        "--gradient", "--iterations", "--burn-in", "--chains"},
                             [&](const char* flag) { return o.given.contains(flag); });
}

void print_table(const Model& model, const ScoreEstimate& found) {
  const std::vector<double> theta = model.start_values();
  fmt::print("{:<16} {:>14} {:>12} {:>12}\n", "parameter", "at", "score", "std. error");
  for (std::size_t p = 0; p < theta.size(); ++p)
    fmt::print("{:<16} {:>14.6g} {:>12.6g} {:>12.2g}\n", model.parameters()[p].name, theta[p], found.value[p],
               found.se[p]);
}

nlohmann::ordered_json score_json(const Model& model, const ScoreEstimate& found) {
  nlohmann::ordered_json score = nlohmann::ordered_json::object();
  for (std::size_t p = 0; p < found.value.size(); ++p)
    score[model.parameters()[p].name] = {{"value", found.value[p]}, {"se", found.se[p]}};
  return score;
}

nlohmann::ordered_json score_json_of(const Arguments& o, const Model& model, const DiffusionScore& s,
                                     const Findings& findings, double seconds) {
  nlohmann::ordered_json steps = nullptr;
  if (s.steps) steps = *s.steps;
  return {{"score", score_json(model, s.estimate)},
          {"engine", "particles"},
          {"scheme", name_of(s.effort.scheme)},
          {"level", s.effort.level},
          {"proposal", s.effort.ahead ? "ahead" : "plain"},
          {"particles", s.estimate.particles},
          {"law_particles", s.estimate.law_particles},
          {"iterations", s.iterations},
          {"burn_in", s.burn_in},
          {"chains", s.chains},
          {"smoother", s.smoother == Smoother::backward ? "backward" : "genealogy"},
          {"gradient", "tangent"},
          {"errors", {{"steps", steps}, {"draws", s.draws}}},
          {"seed", o.seed},
          {"seconds", seconds},
          {"particle_steps", s.estimate.particle_steps},
          {"parameters", parameters_json(model, model.start_values())},
          {"warnings", warning_texts(findings)},
          {"findings", findings_json(findings)}};
}

// Steps and sizes chosen by what they change.
void score_of_diffusion(const Arguments& o, const Problem& problem, World& world, const Stopwatch& clock) {
  DiffusionScoreOptions options{.seed = o.seed, .full_precision = o.full_normals};
  if (o.tolerance > 0) options.tolerance = o.tolerance;
  const Model& model = problem.model();
  const DiffusionScore found = without_store(
      world, o, [&](Run& run) { return diffusion_score(problem, model.start_values(), options, run.runner()); });
  if (!world.first()) return;
  Findings findings;
  if (!found.reached) findings.push_back({Finding::Code::score_tolerance_not_met, {{"error", found.draws}}});
  for (const std::string& text : warning_texts(findings)) fmt::print(stderr, "mckean: warning: {}\n", text);
  if (o.json) return print_json(score_json_of(o, model, found, findings, clock.seconds()));
  print_table(model, found.estimate);
  fmt::print("{} steps, level {}, {} chains of {} iterations, {} particles{}, {} law particles, seed {}\n",
             name_of(found.effort.scheme), found.effort.level, found.chains, found.iterations, found.estimate.particles,
             found.effort.ahead ? " that look ahead" : "", found.estimate.law_particles, o.seed);
  fmt::print(
      "errors, in square roots of the information: {:.2g} by chance, {} beyond that by the last doubling of the "
      "steps\n",
      found.draws, found.steps ? fmt::format("{:.2g}", *found.steps) : "an amount that is not known");
}
}  // namespace

void run_score(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Problem problem(model, read_data(o.data, model.columns()), o.unit);
  require_parameters(o, model);
  if (const auto exact = exact_answer(o, problem, Wanted::gradient, world))
    return print_exact(o, model, *exact, world, clock);
  if (o.given.contains("--tolerance") && score_sizes_given(o))
    throw InputError("--tolerance chooses the steps and sizes; leave it out, or the options that give them");
  Findings findings;
  if (!score_sizes_given(o)) {
    if (has_diffusion_score(problem)) return score_of_diffusion(o, problem, world, clock);
    findings.push_back({Finding::Code::score_of_level, {{"level", *o.level}}});
  }
  const std::vector<double> theta = model.start_values();
  const ScoreOptions options{smooth_options(o), finite_difference(o)};
  const ScoreEstimate found =
      without_store(world, o, [&](Run& run) { return estimate_score(problem, theta, options, run.runner()); });
  if (!world.first()) return;

  for (const std::string& text : warning_texts(findings)) fmt::print(stderr, "mckean: warning: {}\n", text);
  if (o.json) {
    nlohmann::ordered_json out = {{"score", score_json(model, found)}};
    out.update(held_json(o, model, {found.particles, found.law_particles, found.particle_steps}, clock.seconds()));
    out["gradient"] = o.gradient;
    out["warnings"] = warning_texts(findings);
    out["findings"] = findings_json(findings);
    return print_json(out);
  }
  print_table(model, found);
  fmt::print("level {}, {} chains of {} iterations, {} particles, {} law particles, seed {}\n", options.level,
             options.chains, options.iterations, found.particles, found.law_particles, o.seed);
}
}  // namespace mckean::cli
