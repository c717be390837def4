#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/run_fit.hpp"
#include "cli/signals.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

struct FitArguments : FitSettings {
  std::string run;
  bool no_run = false;
  const CLI::App* command = nullptr;
};

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void run(const FitArguments& o, World& world) {
  const std::string name = world.from_first([&] {  // errors before anything is created
    const Model model = read_model(o.model, o.overrides());
    check_settings(o, model, read_data(o.data, model.columns()));
    return model.name();
  });
  for (const auto& note : o.without_use(*o.command))
    if (world.first()) fmt::print(stderr, "mckean: warning: {}; it is ignored\n", note);
  const RunInput input{text_of(o.to_json()), file_text(o.model), file_text(o.data)};
  const StopSignals signals;
  const RunOptions how{.threads = o.threads,
                       .show_progress = !o.quiet && !o.json,
                       .verbose = o.verbose,
                       .interrupted = StopSignals::requested};
  if (o.no_run) {
    Run run = Run::without_store(world, input, how);
    return run_fit(world, run, o.json);
  }
  const std::string folder = o.run.empty() ? world.from_first([&] { return fresh_folder(name).string(); }) : o.run;
  Run run = Run::create(world, folder, input, how);
  run_fit(world, run, o.json);
}
}  // namespace

void add_fit(CLI::App& app, World& world) {
  auto o = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand("fit", "maximum-likelihood estimate with standard errors");
  o->add_to(*command);
  o->command = command;
  auto* folder =
      command->add_option("--run", o->run, "folder that keeps the run (default: a new one, NAME-1, NAME-2, …)");
  command->add_flag("--no-run", o->no_run, "keep nothing on disk")->excludes(folder);
  command->callback([o, &world] {
    o->understand(*o->command);
    run(*o, world);
  });
}
}  // namespace mckean::cli
