#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/running.hpp"
#include "mckean/data.hpp"
#include "mckean/error.hpp"
#include "report/figure_error.hpp"
#include "report/gnuplot.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kFigures{"1", "2", "3", "4"};

fs::path folder_of(const Arguments& o) { return o.out.empty() ? "figures-" + o.scale : o.out; }

bool wants(const Arguments& o, const std::string& figure) {
  return std::ranges::any_of(o.figures, [&](const std::string& f) { return f == figure || f == "all"; });
}

// Everything that a study depends on is in its run; a folder that holds the same study goes on with it.
FinishedStudy study(const Arguments& o, const FigureFiles& files, const std::string& figure, const TomlFile& config,
                    const std::string& name, World& world) {
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
  Run run = Run::create(world, folder_of(o) / fmt::format("{}-{}.run", figure, name), input, run_options(o));
  const ParticleProblem problem({model, data}, out.settings.estimator.highest, o.seed);
  const auto announce = [&](const std::string& cost) {
    run.observer().message(cost);
    if (world.first() && !o.quiet) fmt::print(stderr, "{}, {}\n", figure, cost);
  };
  try {
    out.result = run_study(out.settings, problem, o.seed, run.runner(), run.observer(), announce);
  } catch (const Stopped&) {
    if (world.first())
      fmt::print(stderr, "mckean: stopped; what is finished is kept in {}: the same command goes on from here\n",
                 folder_of(o).string());
    throw;
  }
  run.finish(text_of({{"exact", out.result.exact}}));
  if (world.first())
    for (const std::string& w : out.result.warnings)
      fmt::print(stderr, "mckean: warning: {}, {}: {}\n", figure, name, w);
  return out;
}

Figure make(const Arguments& o, const FigureFiles& files, const std::string& number, World& world) {
  if (number == "1") return kuramoto_figure({files, o.scale, o.seed});
  if (number == "2") return neural_figure({files, o.scale, o.seed});
  const std::string figure = "figure-" + number, name = figure + ".toml";
  const TomlFile config(files.text(name), files.source(name));
  std::vector<FinishedStudy> studies;
  for (const TomlFile::Entry& e : TomlFile::entries(config.root()))
    studies.push_back(study(o, files, figure, config, e.key, world));
  return error_figure(figure, studies, o.seed);
}
}  // namespace

void run_reproduce(const Arguments& o, World& world) {
  const Stopwatch clock;
  const FigureFiles files(o.config);
  const bool drawn = world.first() && gnuplot_is_installed();
  if (world.first()) {
    std::error_code error;
    fs::create_directories(folder_of(o), error);
    if (error) throw InputError(fmt::format("{}: cannot be created ({})", folder_of(o).string(), error.message()));
    if (!drawn) fmt::print(stderr, "mckean: gnuplot is not installed: tables are written, and nothing is drawn\n");
  }
  Json figures = Json::array();
  for (const std::string& number : kFigures) {
    if (!wants(o, number)) continue;
    const Figure figure = make(o, files, number, world);
    if (!world.first()) continue;
    Json written = Json::array();
    const auto write = [&](const std::string& name, const std::string& text) {
      write_file((folder_of(o) / name).string(), text);
      written.push_back(name);
    };
    for (const FigureTable& t : figure.tables) write(t.name, t.text);
    write(figure.name + ".gp", gnuplot_script(figure));
    if (drawn) {
      run_gnuplot(folder_of(o) / (figure.name + ".gp"));
      for (const char* ending : {".svg", ".pdf"}) written.push_back(figure.name + ending);
    }
    figures.push_back({{"figure", figure.name}, {"files", written}, {"text", figure.text}, {"facts", figure.facts}});
    for (const std::string& line : figure.text)
      if (!o.json) fmt::print("{}\n", line);
  }
  if (!world.first()) return;
  if (o.json)
    print_json({{"out", folder_of(o).string()},
                {"scale", o.scale},
                {"seed", o.seed},
                {"seconds", clock.seconds()},
                {"figures", figures}});
  else
    fmt::print("written to {}\n", folder_of(o).string());
  if (!drawn)
    throw RunError(
        fmt::format("gnuplot is not installed: the tables are in {}, the figures are not drawn; install "
                    "gnuplot-nox and give the command again",
                    folder_of(o).string()));
}
}  // namespace mckean::cli
