#include <fmt/format.h>

#include <filesystem>

#include "cli/chain_options.hpp"
#include "estimate/smoothing.hpp"
#include "mckean/data.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {
namespace {

struct Options : ChainCommand {
  int level = 5;
  std::size_t iterations = 500, burn_in = 20, chains = 8;
  std::string out;
};

std::string row_text(std::vector<double> draws) {
  const Smoothed s = summarise_draws(std::move(draws));
  return fmt::format(",{},{},{},{},{}", number_to_text(s.mean), number_to_text(s.sd), number_to_text(s.q05),
                     number_to_text(s.q50), number_to_text(s.q95));
}

std::string to_csv(const Model& model, const Schedule& schedule, const std::vector<SmoothedDraws>& chains) {
  const Data& data = schedule.data;
  const bool several = data.series.size() > 1;
  std::string text = several ? "series,t" : "t";
  for (const auto& c : model.components())
    for (const char* column : {"mean", "sd", "q05", "q50", "q95"}) text += fmt::format(",{}_{}", c.name, column);
  text += "\n";
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t row = 0; row < data.series[s].times.size(); ++row) {
      if (several) text += data.series[s].name + ",";
      text += number_to_text(data.series[s].times[row]);
      for (std::size_t c = 0; c < model.dimension(); ++c) {
        std::vector<double> all;
        for (const auto& chain : chains) all.insert(all.end(), chain[s][c][row].begin(), chain[s][c][row].end());
        text += row_text(std::move(all));
      }
      text += "\n";
    }
  return text;
}

// The output can be written, and is none of the inputs.
void check_output(const Options& o) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code none;
    return a == b || std::filesystem::equivalent(a, b, none);
  };
  if (o.json && o.out == "-") throw InputError("--out -: with --json stdout is for the JSON object; give a file");
  if (same(o.out, o.model)) throw InputError(fmt::format("--out {}: this is the model file; give another", o.out));
  if (same(o.out, o.data)) throw InputError(fmt::format("--out {}: this is the data file; give another", o.out));
  require_writable(o.out);
}

void run(const Options& o) {
  check_output(o);
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  ChainOptions settings = o.chain(model);
  settings.burn_in = o.burn_in;
  const Problem problem(model, data, o.unit, o.level, o.seed);
  const Schedule& schedule = problem.schedule(o.level);
  o.set_particles(settings, o.level, o.level, schedule.grid.points.size());
  std::vector<SmoothedDraws> chains(o.chains);
  std::vector<std::uint64_t> steps(o.chains);
  parallel_for(o.chains, o.threads, [&](std::size_t r) {
    chains[r] =
        draw_smoothed(problem, settings, {o.seed, static_cast<std::uint32_t>(r), o.level}, o.iterations, steps[r]);
  });
  write_file(o.out, to_csv(model, schedule, chains));
  std::uint64_t total = 0;
  for (const auto n : steps) total += n;
  if (o.json)
    return print_json({{"out", o.out},
                       {"level", o.level},
                       {"particles", settings.particles},
                       {"law_particles", settings.law_particles},
                       {"iterations", o.iterations},
                       {"burn_in", o.burn_in},
                       {"chains", o.chains},
                       {"smoother", settings.smoother == Smoother::backward ? "backward" : "genealogy"},
                       {"seed", o.seed},
                       {"seconds", clock.seconds()},
                       {"particle_steps", total},
                       {"parameters", parameters_json(model, settings.start)}});
  if (o.out != "-") fmt::print("wrote {} ({} draws at each time)\n", o.out, o.chains * o.iterations);
}
}  // namespace

void add_smooth(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("smooth", "smoothed state at each time: mean, standard deviation and quantiles");
  o->add_to(*command);
  command->add_option("--out", o->out, "CSV file to write; - for stdout")->required();
  command->add_option("--level", o->level, "a unit of time is split into 2^level Euler steps")
      ->check(whole_number(0, kHighestLevel))
      ->capture_default_str();
  command->add_option("--iterations", o->iterations, "iterations of each chain that are kept")
      ->check(whole_number(1, kMostIterations))
      ->capture_default_str();
  command->add_option("--burn-in", o->burn_in, "iterations before them")
      ->check(whole_number(0, kMostIterations))
      ->capture_default_str();
  command->add_option("--chains", o->chains, "independent chains")
      ->check(whole_number(1, kMostRepeats))
      ->capture_default_str();
  command->callback([o] { run(*o); });
}
}  // namespace mckean::cli
