#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/running.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void start_fit(const Arguments& given, World& world) {
  const Arguments o = understood(given);
  const std::string name = world.from_first([&] {  // errors before anything is created
    const Model model = read_model(o.model, o.overrides());
    check_settings(o, model, read_data(o.data, model.columns()));
    return model.name();
  });
  for (const auto& note : without_use(o, o.given))
    if (world.first()) fmt::print(stderr, "mckean: warning: {}; it is ignored\n", note);
  const RunInput input{text_of(settings_json(o)), file_text(o.model), file_text(o.data)};
  const StopSignals signals;
  if (o.no_run) {
    Run run = Run::without_store(world, input, run_options(o));
    return run_fit(world, run, o.json);
  }
  const std::string folder = o.run.empty() ? world.from_first([&] { return fresh_folder(name).string(); }) : o.run;
  Run run = Run::create(world, folder, input, run_options(o));
  run_fit(world, run, o.json);
}
}  // namespace

void add_fit(CLI::App& app, World& world) {
  CLI::App* command = add_command(app, Command::fit, "fit", "maximum-likelihood estimate with standard errors",
                                  [&world](const Arguments& o) { start_fit(o, world); });
  command->get_option("--no-run")->excludes(command->get_option("--run"));
}
}  // namespace mckean::cli
