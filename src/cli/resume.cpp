#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/signals.hpp"
#include "run/parallel.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

struct ResumeArguments {
  std::string folder;
  std::size_t threads = all_cores();
  std::optional<std::uint64_t> replicates;
  std::optional<double> tolerance;
  std::string budget;
  bool json = false, quiet = false, verbose = false;
  const CLI::App* command = nullptr;
};

// A run of `mckean reproduce` goes on by that command.
void require_fit(const ResumeArguments& o, World& world) {
  world.from_first([&]() -> std::string {
    if (!std::filesystem::exists(Store::file_in(o.folder))) return "";
    const auto settings = object_of(read_input(Store(o.folder, Store::Mode::read)).settings);
    if (settings.contains("reproduce"))
      throw InputError(
          fmt::format("{}: a run of 'mckean reproduce'; give that command again, and it goes on", o.folder));
    return "";
  });
}

void run(const ResumeArguments& o, World& world) {
  require_fit(o, world);
  const StopSignals signals;
  Run run = Run::open(world, o.folder,
                      {.threads = o.threads,
                       .show_progress = !o.json && !o.quiet,
                       .verbose = o.verbose,
                       .interrupted = StopSignals::requested});
  for (const auto& problem : FitSettings::from_json(object_of(run.input().settings)).without_use(*o.command))
    throw InputError(problem);
  if (o.replicates) run.change_setting("replicates", text_of(*o.replicates));
  if (o.tolerance) run.change_setting("tolerance", text_of(*o.tolerance));
  if (!o.budget.empty()) run.change_setting("budget", text_of(o.budget));
  run_fit(world, run, o.json);
}
}  // namespace

void add_resume(CLI::App& app, World& world) {
  auto o = std::make_shared<ResumeArguments>();
  CLI::App* command = app.add_subcommand("resume", "continues a run that was stopped, or extends one that has ended");
  o->command = command;
  command->add_option("DIR", o->folder, "folder of the run")->required();
  command->add_option("--replicates", o->replicates, "another number of replicates")
      ->check(whole_number(2, std::numeric_limits<std::uint32_t>::max()));
  command->add_option("--tolerance", o->tolerance, "another tolerance")->check(positive_number());
  command->add_option("--budget", o->budget, "another budget of time: 90s, 10m, 2h, all sittings together");
  command->add_flag("--verbose", o->verbose, "print what is decided on the way");
  command->add_option("--threads", o->threads, "threads (default: all cores)")->check(whole_number(1, kMostThreads));
  command->add_flag("--quiet", o->quiet, "no progress on stderr");
  command->add_flag("--json", o->json, "one JSON object on stdout, messages on stderr");
  command->callback([o, &world] { run(*o, world); });
}
}  // namespace mckean::cli
