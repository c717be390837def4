#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/advice.hpp"
#include "cli/command.hpp"
#include "cli/exact_answer.hpp"
#include "cli/running.hpp"
#include "engine/particles/ahead_limits.hpp"
#include "mckean/likelihood.hpp"

namespace mckean::cli {
namespace {

constexpr std::size_t kShown = 5;  // warnings

void print_exact(const Arguments& o, const Model& model, const ExactAnswer& exact, World& world,
                 const Stopwatch& clock) {
  if (!world.first()) return;
  const Evaluation& found = exact.value;
  if (o.json) {
    nlohmann::ordered_json out = {{"loglik", {{"value", found.loglik}, {"se", 0.0}}}};
    out.update(exact.settings(o));
    out["seconds"] = clock.seconds();
    out["particle_steps"] = static_cast<std::uint64_t>(found.work);
    out["parameters"] = parameters_json(model, model.start_values());
    out["warnings"] = out["findings"] = nlohmann::ordered_json::array();
    return print_json(out);
  }
  fmt::print("log-likelihood  {:.6f}\n{}, {}; {:.3g} s\n", found.loglik, exact.engine, exact.steps(), clock.seconds());
}

// How the particles were used, and what came of it.
struct Answer {
  Effort effort;
  std::size_t repeats;
  LikelihoodAverage average;
  std::optional<DiffusionLikelihood> chosen;  // where the steps and sizes were
};

bool sizes_given(const Arguments& o) {
  return std::ranges::any_of(
      std::array{"--level", "--unit", "--scheme", "--proposal", "--particles", "--law-particles", "--repeats"},
      [&](const char* flag) { return o.given.contains(flag); });
}

Answer by_particles(const Arguments& o, const Problem& problem, World& world) {
  const Effort effort{.level = *o.level,
                      .scheme = o.scheme == "splitting" ? Scheme::splitting : Scheme::euler,
                      .particles = o.particle_count(),
                      .law_particles = o.law_particle_count(),
                      .ahead = o.proposal == "ahead"};
  if (const auto refused = refuses_ahead(problem.model()); effort.ahead && refused)
    throw InputError("--proposal ahead: " + *refused + "; leave it out");
  const auto engine =
      make_engine("particles", problem, {.level = effort.level, .seed = o.seed, .full_precision = o.full_normals});
  const std::vector<double> theta = problem.model().start_values();
  return without_store(world, o, [&](Run& run) -> Answer {
    if (!sizes_given(o)) {
      DiffusionOptions options{.seed = o.seed};
      if (o.tolerance > 0) options.tolerance = o.tolerance;
      const DiffusionLikelihood found = diffusion_likelihood(*engine, theta, options, run.runner());
      return {found.effort, found.repeats, found.average, found};
    }
    AverageOptions options{.seed = o.seed, .repeats = o.repeats};
    options.request.effort = effort;
    options.request.predictions = false;
    return {effort, o.repeats, average_likelihood(*engine, theta, options, run.runner()), {}};
  });
}

nlohmann::ordered_json change_json(const std::optional<MeasuredChange>& c) {
  nlohmann::ordered_json out = {{"value", nullptr}, {"se", nullptr}};
  if (c) out = {{"value", c->value}, {"se", c->se}};
  return out;
}

std::string change_text(const std::optional<MeasuredChange>& c) {
  return c ? fmt::format("{:.2g} ± {:.1g}", c->value, c->se) : "an amount that is not known";
}

void print_json_of(const Arguments& o, const Model& model, const Answer& a, double seconds) {
  const auto& [effort, repeats, average, chosen] = a;
  nlohmann::ordered_json se = nullptr;
  if (average.summary.se) se = *average.summary.se;
  nlohmann::ordered_json out = {{"loglik", {{"value", average.summary.value}, {"se", se}}},
                                {"engine", "particles"},
                                {"scheme", name_of(effort.scheme)},
                                {"level", effort.level},
                                {"proposal", effort.ahead ? "ahead" : "plain"},
                                {"particles", effort.particles},
                                {"law_particles", effort.law_particles},
                                {"repeats", repeats},
                                {"seed", o.seed},
                                {"seconds", seconds},
                                {"particle_steps", average.particle_steps},
                                {"parameters", parameters_json(model, model.start_values())},
                                {"warnings", warning_texts(average.findings)},
                                {"findings", findings_json(average.findings)}};
  if (chosen)
    out["errors"] = {{"steps", change_json(chosen->steps)}, {"law", change_json(chosen->law)}, {"particles", se}};
  print_json(out);
}

void print_text_of(const Arguments& o, const Answer& a, double seconds) {
  const auto& [effort, repeats, average, chosen] = a;
  fmt::print("log-likelihood  {:.6f}", average.summary.value);
  if (average.summary.se) fmt::print("  (standard error {:.2g})", *average.summary.se);
  fmt::print("\n{} steps, level {}, {} particles{}, {} law particles, {} repeats, seed {}\n", name_of(effort.scheme),
             effort.level, effort.particles, effort.ahead ? " that look ahead" : "", effort.law_particles, repeats,
             o.seed);
  if (chosen)
    fmt::print("the last doubling of the steps moved it by {}, the last fourfold law by {}\n",
               change_text(chosen->steps), change_text(chosen->law));
  fmt::print("{:.3g} particle-steps in {:.3g} s\n", static_cast<double>(average.particle_steps), seconds);
}
}  // namespace

void run_loglik(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Problem problem(model, read_data(o.data, model.columns()), o.unit);
  if (const auto exact = exact_answer(o, problem, Wanted::value, world))
    return print_exact(o, model, *exact, world, clock);
  Answer answer = by_particles(o, problem, world);
  if (!world.first()) return;
  if (answer.chosen && !answer.chosen->reached)
    answer.average.findings.insert(answer.average.findings.begin(),
                                   {Finding::Code::tolerance_not_met, {{"error", *answer.average.summary.se}}});
  const std::vector<std::string> warnings = warning_texts(answer.average.findings);
  for (std::size_t i = 0; i < std::min(warnings.size(), kShown); ++i)
    fmt::print(stderr, "mckean: warning: {}\n", warnings[i]);
  if (warnings.size() > kShown)
    fmt::print(stderr, "mckean: warning: and {} more of this kind\n", warnings.size() - kShown);
  if (o.json) return print_json_of(o, model, answer, clock.seconds());
  print_text_of(o, answer, clock.seconds());
}
}  // namespace mckean::cli
