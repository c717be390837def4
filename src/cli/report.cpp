#include "report/report.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/stored_run.hpp"
#include "run/parallel.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

struct ReportArguments {
  std::string folder, out;
  std::size_t threads = all_cores();
  bool json = false;
};

void run(const ReportArguments& o) {
  const std::filesystem::path folder = o.folder;
  require_run(folder);
  const std::string out = o.out.empty() ? (folder / "report.html").string() : o.out;
  if (o.json && out == "-") throw InputError("--out -: with --json stdout is for the JSON object; give a file");
  require_writable(out);
  const Stopwatch clock;
  const Store store(folder, Store::Mode::read);
  require_same_program(o.folder, store);
  const RunInput input = read_input(store);
  const FitSettings settings = FitSettings::from_json(object_of(input.settings));
  const Model model = parse_model(input.model, settings.model, settings.overrides());
  const Data data = parse_data(input.data, settings.data, model.columns());
  const std::string page = report::make_report({.model = model,
                                                .data = data,
                                                .store = store,
                                                .plan = plan_fit(model, settings.options()),
                                                .unit = settings.unit,
                                                .run = run_json(read_stored_run(folder), store),
                                                .command = settings.command("model.toml", "data.csv"),
                                                .threads = o.threads});
  write_file(out, page);
  if (o.json) return print_json({{"out", out}, {"bytes", page.size()}, {"seconds", clock.seconds()}});
  if (out != "-") fmt::print("wrote {} ({} bytes)\n", out, page.size());
}
}  // namespace

void add_report(CLI::App& app, World& world) {
  auto o = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "writes a run as one HTML page: model, data, estimate, figures, settings");
  command->add_option("DIR", o->folder, "folder of the run")->required();
  command->add_option("--out", o->out, "file to write (default: report.html in the folder of the run); - for stdout");
  command->add_option("--threads", o->threads, "threads (default: all cores)")->check(whole_number(1, kMostThreads));
  command->add_flag("--json", o->json, "one JSON object on stdout, messages on stderr");
  command->callback([o, &world] { world.on_first([&] { run(*o); }); });
}
}  // namespace mckean::cli
