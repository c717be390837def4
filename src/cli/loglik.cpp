#include <fmt/format.h>

#include <algorithm>

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
  const Evaluation& found = exact.value.evaluation;
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

void run_loglik(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Problem problem(model, read_data(o.data, model.columns()), o.unit);
  if (const auto exact = exact_answer(o, problem, Wanted::value, world))
    return print_exact(o, model, *exact, world, clock);
  const Effort effort{.level = *o.level,
                      .particles = o.particle_count(),
                      .law_particles = o.law_particle_count(),
                      .ahead = o.proposal == "ahead"};
  if (const auto refused = refuses_ahead(model); effort.ahead && refused)
    throw InputError("--proposal ahead: " + *refused + "; leave it out");
  const auto engine =
      make_engine("particles", problem, {.level = effort.level, .seed = o.seed, .full_precision = o.full_normals});
  AverageOptions options{.seed = o.seed, .repeats = o.repeats};
  options.request.effort = effort;
  const std::vector<double> theta = model.start_values();
  const auto [summary, steps, findings, none] =
      without_store(world, o, [&](Run& run) { return average_likelihood(*engine, theta, options, run.runner()); });
  if (!world.first()) return;
  const std::vector<std::string> warnings = warning_texts(findings);
  for (std::size_t i = 0; i < std::min(warnings.size(), kShown); ++i)
    fmt::print(stderr, "mckean: warning: {}\n", warnings[i]);
  if (warnings.size() > kShown)
    fmt::print(stderr, "mckean: warning: and {} more of this kind\n", warnings.size() - kShown);

  if (o.json) {
    nlohmann::ordered_json se = nullptr;
    if (summary.se) se = *summary.se;
    return print_json({{"loglik", {{"value", summary.value}, {"se", se}}},
                       {"engine", "particles"},
                       {"scheme", "euler"},
                       {"level", effort.level},
                       {"proposal", o.proposal},
                       {"particles", effort.particles},
                       {"law_particles", effort.law_particles},
                       {"repeats", o.repeats},
                       {"seed", o.seed},
                       {"seconds", clock.seconds()},
                       {"particle_steps", steps},
                       {"parameters", parameters_json(model, theta)},
                       {"warnings", warnings},
                       {"findings", findings_json(findings)}});
  }
  fmt::print("log-likelihood  {:.6f}", summary.value);
  if (summary.se) fmt::print("  (standard error {:.2g})", *summary.se);
  fmt::print("\nlevel {}, {} particles, {} law particles, {} repeats, seed {}\n", effort.level, effort.particles,
             effort.law_particles, o.repeats, o.seed);
  fmt::print("{:.3g} particle-steps in {:.3g} s\n", static_cast<double>(steps), clock.seconds());
}
}  // namespace

void add_loglik(CLI::App& app, World& world) {
  add_command(app, Command::loglik, "loglik", "log-likelihood of data at the model's parameter values",
              [&world](const Arguments& o) { run_loglik(o, world); });
}
}  // namespace mckean::cli
