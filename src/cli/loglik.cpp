#include <fmt/format.h>

#include <algorithm>

#include "cli/advice.hpp"
#include "cli/command.hpp"
#include "cli/unkept.hpp"
#include "mckean/likelihood.hpp"
#include "problem/grid.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {
namespace {

constexpr std::size_t kShown = 5;  // warnings

struct LoglikArguments : CommonOptions {
  std::string model, data;
  double unit = 0;
  Effort effort{.level = 5, .particles = 4096, .law_particles = 4096};
  bool full_normals = false;
  std::size_t repeats = 16, threads = all_cores();
};

void run(const LoglikArguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  const auto engine = make_engine("particles", {model, data, o.unit},
                                  {.level = o.effort.level, .seed = o.seed, .full_precision = o.full_normals});
  AverageOptions options{.seed = o.seed, .repeats = o.repeats};
  options.request.effort = o.effort;
  const std::vector<double> theta = model.start_values();
  const auto [summary, steps, findings, none] =
      without_store(world, {.threads = o.threads, .show_progress = false},
                    [&](Run& run) { return average_likelihood(*engine, theta, options, run.runner()); });
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
                       {"level", o.effort.level},
                       {"particles", o.effort.particles},
                       {"law_particles", o.effort.law_particles},
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
  fmt::print("\nlevel {}, {} particles, {} law particles, {} repeats, seed {}\n", o.effort.level, o.effort.particles,
             o.effort.law_particles, o.repeats, o.seed);
  fmt::print("{:.3g} particle-steps in {:.3g} s\n", static_cast<double>(steps), clock.seconds());
}
}  // namespace

void add_loglik(CLI::App& app, World& world) {
  auto o = std::make_shared<LoglikArguments>();
  CLI::App* command = app.add_subcommand("loglik", "log-likelihood of data at the model's parameter values");
  command->add_option("MODEL", o->model, "model file")->required();
  command->add_option("DATA", o->data, "data file (CSV)")->required();
  command->add_option("--level", o->effort.level, "a unit of time is split into 2^level Euler steps")
      ->capture_default_str()
      ->check(whole_number(0, kHighestLevel));
  command->add_option("--particles", o->effort.particles, "particles of the filter")
      ->capture_default_str()
      ->check(whole_number(1, kMostParticles));
  command->add_option("--law-particles", o->effort.law_particles, "particles of the law")
      ->capture_default_str()
      ->check(whole_number(1, kMostParticles));
  command->add_option("--repeats", o->repeats, "independent estimates that are averaged")
      ->capture_default_str()
      ->check(whole_number(1, kMostRepeats));
  command->add_option("--unit", o->unit, "unit of time (default: the median spacing of the observations)")
      ->check(positive_number());
  command->add_flag("--full-normals", o->full_normals, "64-bit instead of 32-bit normal variates");
  command->add_option("--threads", o->threads, "threads (default: all cores)")->check(whole_number(1, kMostThreads));
  o->add_to(*command);
  command->callback([o, &world] { run(*o, world); });
}
}  // namespace mckean::cli
