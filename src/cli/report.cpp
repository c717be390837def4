#include "report/report.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/stored_run.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

void report_run(const Arguments& o) {
  const std::filesystem::path folder = o.folder;
  require_run(folder);
  const std::string out = o.out.empty() ? (folder / "report.html").string() : o.out;
  if (o.json && out == "-") throw InputError("--out -: with --json stdout is for the JSON object; give a file");
  require_writable(out);
  const Stopwatch clock;
  const Store store(folder, Store::Mode::read);
  require_same_program(o.folder, store);
  const RunInput input = read_input(store);
  const Arguments settings = read_settings(object_of(input.settings));
  const Model model = parse_model(input.model, settings.model, settings.overrides());
  const Data data = parse_data(input.data, settings.data, model.columns());
  const std::string page = report::make_report({.model = model,
                                                .data = data,
                                                .store = store,
                                                .plan = plan_fit(model, fit_options(settings)),
                                                .unit = settings.unit,
                                                .run = run_json(read_stored_run(folder), store),
                                                .command = fit_command(settings, "model.toml", "data.csv"),
                                                .threads = o.threads});
  write_file(out, page);
  if (o.json) return print_json({{"out", out}, {"bytes", page.size()}, {"seconds", clock.seconds()}});
  if (out != "-") fmt::print("wrote {} ({} bytes)\n", out, page.size());
}
}  // namespace

void run_report(const Arguments& o, World& world) {
  world.on_first([&] { report_run(o); });
}
}  // namespace mckean::cli
