#include "mckean/score.hpp"

#include <fmt/format.h>

#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/running.hpp"
#include "mckean/data.hpp"

namespace mckean::cli {
namespace {

void run_score(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  require_parameters(o, model);
  const std::vector<double> theta = model.start_values();
  const ScoreOptions options{smooth_options(o), finite_difference(o)};
  const ScoreEstimate found = without_store(world, o, [&](Run& run) {
    return estimate_score({model, data, o.unit}, theta, options, run.runner());
  });
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
}  // namespace

void add_score(CLI::App& app, World& world) {
  add_command(app, Command::score, "score", "gradient of the log-likelihood at the model's parameter values",
              [&world](const Arguments& o) { run_score(o, world); });
}
}  // namespace mckean::cli
