#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/advice.hpp"
#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/exact_answer.hpp"
#include "cli/running.hpp"
#include "mckean/data.hpp"

namespace mckean::cli {
namespace {

std::string to_csv(const Model& model, const Data& data, const States& states) {
  const bool several = data.series.size() > 1;
  std::string text = several ? "series,t" : "t";
  for (const auto& c : model.components())
    for (const char* column : {"mean", "sd", "q05", "q50", "q95"}) text += fmt::format(",{}_{}", c.name, column);
  text += "\n";
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t row = 0; row < data.series[s].times.size(); ++row) {
      if (several) text += data.series[s].name + ",";
      text += number_to_text(data.series[s].times[row]);
      for (const auto& component : states[s])
        for (double Smoothed::*v : {&Smoothed::mean, &Smoothed::sd, &Smoothed::q05, &Smoothed::q50, &Smoothed::q95})
          text += "," + number_to_text(component[row].*v);
      text += "\n";
    }
  return text;
}

// The output can be written, and is none of the inputs.
void check_output(const Arguments& o) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code none;
    return a == b || std::filesystem::equivalent(a, b, none);
  };
  if (o.json && o.out == "-") throw InputError("--out -: with --json stdout is for the JSON object; give a file");
  if (same(o.out, o.model)) throw InputError(fmt::format("--out {}: this is the model file; give another", o.out));
  if (same(o.out, o.data)) throw InputError(fmt::format("--out {}: this is the data file; give another", o.out));
  require_writable(o.out);
}

bool sizes_given(const Arguments& o) {
  return std::ranges::any_of(std::array{"--level", "--unit", "--particles", "--law-particles", "--smoother",
                                        "--iterations", "--burn-in", "--chains"},
                             [&](const char* flag) { return o.given.contains(flag); });
}

nlohmann::ordered_json json_of(const Arguments& o, const Model& model, const DiffusionSmoothing& s, double seconds) {
  nlohmann::ordered_json steps = nullptr;
  if (s.steps) steps = *s.steps;
  return {{"out", o.out},
          {"engine", "particles"},
          {"scheme", name_of(s.effort.scheme)},
          {"level", s.effort.level},
          {"proposal", s.effort.ahead ? "ahead" : "plain"},
          {"particles", s.states.particles},
          {"law_particles", s.states.law_particles},
          {"iterations", s.iterations},
          {"burn_in", s.burn_in},
          {"chains", s.chains},
          {"smoother", s.smoother == Smoother::backward ? "backward" : "genealogy"},
          {"errors", {{"steps", steps}, {"draws", s.draws}}},
          {"seed", o.seed},
          {"seconds", seconds},
          {"particle_steps", s.states.particle_steps},
          {"parameters", parameters_json(model, model.start_values())}};
}

// Steps and sizes chosen by what they change.
void of_diffusion(const Arguments& o, const Problem& problem, World& world, const Stopwatch& clock) {
  DiffusionSmoothingOptions options{.seed = o.seed, .full_precision = o.full_normals};
  if (o.tolerance > 0) options.tolerance = o.tolerance;
  const DiffusionSmoothing found = without_store(world, o, [&](Run& run) {
    return smooth_diffusion(problem, problem.model().start_values(), options, run.runner());
  });
  if (!world.first()) return;
  const Finding missed{Finding::Code::smoothing_tolerance_not_met, {{"error", found.draws}}};
  if (!found.reached) fmt::print(stderr, "mckean: warning: {}\n", warning_texts({missed})[0]);
  write_file(o.out, to_csv(problem.model(), problem.data(), found.states.at));
  if (o.json) return print_json(json_of(o, problem.model(), found, clock.seconds()));
  if (o.out == "-") return;
  fmt::print("wrote {} ({} draws at each time)\n", o.out, found.chains * found.iterations);
  fmt::print("{} steps, level {}, {} particles{}, {} law particles, seed {}\n", name_of(found.effort.scheme),
             found.effort.level, found.states.particles, found.effort.ahead ? " that look ahead" : "",
             found.states.law_particles, o.seed);
  fmt::print("errors of the means, in standard deviations: {:.2g} by chance, {} by the last doubling of the steps\n",
             found.draws, found.steps ? fmt::format("{:.2g}", *found.steps) : "an amount that is not known");
}
}  // namespace

void run_smooth(const Arguments& o, World& world) {
  if (world.first()) check_output(o);
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  const Problem problem(model, data, o.unit);
  if (const auto exact = exact_answer(o, problem, Wanted::states, world)) {
    if (!world.first()) return;
    write_file(o.out, to_csv(model, data, exact->states));
    if (!o.json && o.out != "-") fmt::print("wrote {} ({}, {})\n", o.out, exact->engine, exact->steps());
    if (!o.json) return;
    nlohmann::ordered_json out = {{"out", o.out}};
    out.update(exact->settings(o));
    out["seconds"] = clock.seconds();
    out["particle_steps"] = static_cast<std::uint64_t>(exact->value.work);
    out["parameters"] = parameters_json(model, model.start_values());
    return print_json(out);
  }
  if (!sizes_given(o)) return of_diffusion(o, problem, world, clock);
  const SmoothedStates states = without_store(
      world, o, [&](Run& run) { return smooth(problem, model.start_values(), smooth_options(o), run.runner()); });
  if (!world.first()) return;
  write_file(o.out, to_csv(model, data, states.at));
  if (o.json) {
    nlohmann::ordered_json out = {{"out", o.out}};
    out.update(held_json(o, model, {states.particles, states.law_particles, states.particle_steps}, clock.seconds()));
    return print_json(out);
  }
  if (o.out != "-") fmt::print("wrote {} ({} draws at each time)\n", o.out, o.chains * o.iterations);
}
}  // namespace mckean::cli
