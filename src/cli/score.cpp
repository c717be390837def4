#include "mckean/score.hpp"

#include <fmt/format.h>

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
}  // namespace

void run_score(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Problem problem(model, read_data(o.data, model.columns()), o.unit);
  require_parameters(o, model);
  if (const auto exact = exact_answer(o, problem, Wanted::gradient, world))
    return print_exact(o, model, *exact, world, clock);
  const std::vector<double> theta = model.start_values();
  const ScoreOptions options{smooth_options(o), finite_difference(o)};
  const ScoreEstimate found =
      without_store(world, o, [&](Run& run) { return estimate_score(problem, theta, options, run.runner()); });
  if (!world.first()) return;

  if (o.json) {
    nlohmann::ordered_json score = nlohmann::ordered_json::object();
    for (std::size_t p = 0; p < theta.size(); ++p)
      score[model.parameters()[p].name] = {{"value", found.value[p]}, {"se", found.se[p]}};
    nlohmann::ordered_json out = {{"score", score}};
    out.update(held_json(o, model, {found.particles, found.law_particles, found.particle_steps}, clock.seconds()));
    out["gradient"] = o.gradient;
    return print_json(out);
  }
  fmt::print("{:<16} {:>14} {:>12} {:>12}\n", "parameter", "at", "score", "std. error");
  for (std::size_t p = 0; p < theta.size(); ++p)
    fmt::print("{:<16} {:>14.6g} {:>12.6g} {:>12.2g}\n", model.parameters()[p].name, theta[p], found.value[p],
               found.se[p]);
  fmt::print("level {}, {} chains of {} iterations, {} particles, {} law particles, seed {}\n", options.level,
             options.chains, options.iterations, found.particles, found.law_particles, o.seed);
}
}  // namespace mckean::cli
