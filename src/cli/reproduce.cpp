#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "cli/command.hpp"
#include "cli/signals.hpp"
#include "mckean/data.hpp"
#include "mckean/error.hpp"
#include "mckean/run.hpp"
#include "report/figure_error.hpp"
#include "report/gnuplot.hpp"
#include "run/parallel.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kFigures{"1", "2", "3", "4"};

struct ReproduceArguments {
  std::vector<std::string> figures;
  std::string scale = "quick", out, config;
  std::uint64_t seed = 1;
  std::size_t threads = all_cores();
  bool json = false, quiet = false;

  fs::path folder() const { return out.empty() ? "figures-" + scale : out; }
  bool wants(const std::string& figure) const {
    return std::ranges::any_of(figures, [&](const std::string& f) { return f == figure || f == "all"; });
  }
};

// Everything that a study depends on is in its run; a folder that holds the same study goes on with it.
FinishedStudy study(const ReproduceArguments& o, const FigureFiles& files, const std::string& figure,
                    const TomlFile& config, const std::string& name, World& world) {
  FinishedStudy out{read_study(config, name, o.scale), {}, {}};
  const RunInput input{text_of({{"reproduce", figure},
                                {"study", name},
                                {"seed", o.seed},
                                {"scale", o.scale},
                                {"settings", out.settings.used}}),
                       files.text(out.settings.model), files.text(out.settings.data)};
  const Model model = parse_model(input.model, files.source(out.settings.model));
  const Data data =
      without_late_rows(parse_data(input.data, files.source(out.settings.data), model.columns()), out.settings.until);
  for (const auto& p : model.parameters()) out.parameters.push_back(p.name);
  const StopSignals signals;
  Run run =
      Run::create(world, o.folder() / fmt::format("{}-{}.run", figure, name), input,
                  {.threads = o.threads, .show_progress = !o.quiet && !o.json, .interrupted = StopSignals::requested});
  const Problem problem(model, data, 0, out.settings.estimator.highest, o.seed);
  const auto announce = [&](const std::string& cost) {
    run.observer().message(cost);
    if (world.first() && !o.quiet) fmt::print(stderr, "{}, {}\n", figure, cost);
  };
  try {
    out.result = run_study(out.settings, problem, o.seed, run.runner(), run.observer(), announce);
  } catch (const Stopped&) {
    if (world.first())
      fmt::print(stderr, "mckean: stopped; what is finished is kept in {}: the same command goes on from here\n",
                 o.folder().string());
    throw;
  }
  run.finish(text_of({{"exact", out.result.exact}}));
  if (world.first())
    for (const std::string& w : out.result.warnings)
      fmt::print(stderr, "mckean: warning: {}, {}: {}\n", figure, name, w);
  return out;
}

Figure make(const ReproduceArguments& o, const FigureFiles& files, const std::string& number, World& world) {
  if (number == "1") return kuramoto_figure({files, o.scale, o.seed});
  if (number == "2") return neural_figure({files, o.scale, o.seed});
  const std::string figure = "figure-" + number, name = figure + ".toml";
  const TomlFile config(files.text(name), files.source(name));
  std::vector<FinishedStudy> studies;
  for (const TomlFile::Entry& e : TomlFile::entries(config.root()))
    studies.push_back(study(o, files, figure, config, e.key, world));
  return error_figure(figure, studies, o.seed);
}

void run(const ReproduceArguments& o, World& world) {
  const Stopwatch clock;
  const FigureFiles files(o.config);
  const bool drawn = world.first() && gnuplot_is_installed();
  if (world.first()) {
    std::error_code error;
    fs::create_directories(o.folder(), error);
    if (error) throw InputError(fmt::format("{}: cannot be created ({})", o.folder().string(), error.message()));
    if (!drawn) fmt::print(stderr, "mckean: gnuplot is not installed: tables are written, and nothing is drawn\n");
  }
  Json figures = Json::array();
  for (const std::string& number : kFigures) {
    if (!o.wants(number)) continue;
    const Figure figure = make(o, files, number, world);
    if (!world.first()) continue;
    Json written = Json::array();
    const auto write = [&](const std::string& name, const std::string& text) {
      write_file((o.folder() / name).string(), text);
      written.push_back(name);
    };
    for (const FigureTable& t : figure.tables) write(t.name, t.text);
    write(figure.name + ".gp", gnuplot_script(figure));
    if (drawn) {
      run_gnuplot(o.folder() / (figure.name + ".gp"));
      for (const char* ending : {".svg", ".pdf"}) written.push_back(figure.name + ending);
    }
    figures.push_back({{"figure", figure.name}, {"files", written}, {"text", figure.text}, {"facts", figure.facts}});
    for (const std::string& line : figure.text)
      if (!o.json) fmt::print("{}\n", line);
  }
  if (!world.first()) return;
  if (o.json)
    print_json({{"out", o.folder().string()},
                {"scale", o.scale},
                {"seed", o.seed},
                {"seconds", clock.seconds()},
                {"figures", figures}});
  else
    fmt::print("written to {}\n", o.folder().string());
  if (!drawn)
    throw RunError(
        fmt::format("gnuplot is not installed: the tables are in {}, the figures are not drawn; install "
                    "gnuplot-nox and give the command again",
                    o.folder().string()));
}
}  // namespace

void add_reproduce(CLI::App& app, World& world) {
  auto o = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand("reproduce", "the figures of the paper, from one command each");
  std::vector<std::string> names = kFigures;
  names.emplace_back("all");
  command
      ->add_option("FIGURE", o->figures,
                   "1: Kuramoto oscillators over time; 2: a neural network over time, its weights and biases; 3: mean "
                   "squared error against cost with L = 4; 4: the same with L = 8; all")
      ->required()
      ->check(CLI::IsMember(names));
  command->add_option("--scale", o->scale, "quick: minutes; paper: the paper's sizes, many core-hours")
      ->check(CLI::IsMember({"quick", "paper"}))
      ->capture_default_str();
  command->add_option("--out", o->out, "folder for tables, figures and runs (default: figures-SCALE)");
  command->add_option("--config", o->config, "folder with other versions of the files of experiments/figures");
  command->add_option("--seed", o->seed, "seed of all random numbers")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  command->add_option("--threads", o->threads, "threads (default: all cores)")->check(whole_number(1, kMostThreads));
  command->add_flag("--quiet", o->quiet, "no progress");
  command->add_flag("--json", o->json, "one JSON object on stdout, messages on stderr");
  command->callback([o, &world] { run(*o, world); });
}
}  // namespace mckean::cli
