#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "cli/advice.hpp"
#include "cli/command.hpp"
#include "cli/running.hpp"
#include "mckean/simulate.hpp"
#include "model/number.hpp"
#include "problem/grid.hpp"

namespace mckean::cli {
namespace {

// "100": 1, 2, ..., 100. "0.5:0.5:50": from, step, to. "0.3,1,2.5": as listed.
class Times {
 public:
  static std::vector<double> parse(const std::string& text) { return Times(text).all(); }

 private:
  static constexpr double kMost = 1e7;

  explicit Times(const std::string& text) : text_(text) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(
        fmt::format("--times {}: {}; give T for 1, 2, …, T, or FROM:STEP:TO, or a list T1,T2,…", text_, problem));
  }

  std::vector<double> numbers(char separator) const {
    std::vector<double> out;
    for (std::size_t at = 0; at <= text_.size();) {
      const std::size_t end = std::min(text_.find(separator, at), text_.size());
      const Number n = parse_number(std::string_view(text_).substr(at, end - at));
      if (!n.problem.empty()) fail(n.problem);
      out.push_back(n.value);
      at = end + 1;
    }
    return out;
  }

  std::vector<double> range(double from, double step, double to) const {
    if (!(step > 0) || to < from) fail("the step must be positive and the end not before the start");
    if ((to - from) / step > kMost) fail(fmt::format("these are more than {:.0f} times", kMost));
    std::vector<double> times;
    const auto n = static_cast<std::size_t>(std::floor((to - from) / step * (1 + 1e-12) + 1e-9));
    for (std::size_t i = 0; i <= n; ++i) times.push_back(from + static_cast<double>(i) * step);
    return times;
  }

  std::vector<double> all() const {
    const bool colons = text_.find(':') != std::string::npos;
    std::vector<double> times = numbers(colons ? ':' : ',');
    if (colons && times.size() != 3) fail("three numbers are expected around the ':'");
    if (times.size() == 1 && (times[0] < 1 || times[0] != std::floor(times[0])))
      fail("T must be a whole number from 1");
    if (colons)
      times = range(times[0], times[1], times[2]);
    else if (times.size() == 1)
      times = range(1, 1, times[0]);
    if (times[0] < 0) fail("no time may be negative");
    if (std::ranges::adjacent_find(times, std::greater_equal()) != times.end()) fail("the times must increase");
    return times;
  }

  const std::string& text_;
};

// Each output has a place of its own, which can be written and is not the model's.
void check_outputs(const Arguments& o) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code none;
    return a == b || std::filesystem::equivalent(a, b, none);
  };
  if (o.out == o.paths)
    throw InputError(fmt::format("--out and --paths are both {}; give them different files", o.out));
  for (const auto& [option, file] : {std::pair("--out", o.out), std::pair("--paths", o.paths)}) {
    if (file.empty() && option != std::string("--out")) continue;
    if (o.json && file == "-")
      throw InputError(fmt::format("{} -: with --json stdout is for the JSON object; give a file", option));
    if (same(file, o.model)) throw InputError(fmt::format("{} {}: this is the model file; give another", option, file));
    require_writable(file);
  }
}

// What decides the steps, in place of what they change.
bool steps_given(const Arguments& o) { return o.given.contains("--level") || o.given.contains("--unit"); }

bool sized(const Arguments& o) { return steps_given(o) || o.given.contains("--law-particles"); }

// How the system is simulated, and where that was chosen, what came of it.
struct SimulationPlan {
  SimulateOptions settings;
  std::optional<DiffusionSimulation> chosen;
};

SimulationPlan plan_simulation(const Arguments& o, const Model& model, std::span<const double> times, World& world) {
  const bool with_paths = !o.paths.empty();
  if (steps_given(o)) {
    if (o.given.contains("--tolerance"))
      throw InputError("--tolerance chooses the steps, which --level and --unit give; leave one of them out");
    return {{.level = *o.level,
             .scheme = o.scheme == "splitting" ? Scheme::splitting : Scheme::euler,
             .law_particles = o.law_particle_count(),
             .series = o.series,
             .seed = o.seed,
             .unit = o.unit,
             .full_precision = o.full_normals},
            {}};
  }
  DiffusionSimulationOptions options{
      .series = o.series, .shown = with_paths ? o.count : 0, .seed = o.seed, .full_precision = o.full_normals};
  if (o.scheme == "euler") options.scheme = Scheme::euler;
  if (sized(o)) options.law_particles = o.law_particle_count();
  if (o.tolerance > 0) options.tolerance = o.tolerance;
  const DiffusionSimulation found = without_store(
      world, o, [&](Run& run) { return choose_simulation(model, model.start_values(), times, options, run.runner()); });
  return {found.settings, found};
}

// Flows, each with the noise that belongs to it.
std::uint64_t steps_of(std::span<const double> times, const SimulateOptions& s) {
  const Grid grid = with_states_between(Grid(times, s.level, s.unit, s.scheme));
  return static_cast<std::uint64_t>(std::ranges::count_if(grid.step, [](const StepTime& k) { return k.flow > 0; }));
}

// Data and paths, and the points at which the latter are.
struct Simulated {
  Data data;
  std::string paths;
  std::size_t points = 0;
};

Simulated simulate_as_planned(const Arguments& o, const Model& model, std::span<const double> times,
                              const SimulateOptions& settings) {
  Simulated out;
  out.paths = "t,particle";
  for (const auto& c : model.components()) out.paths += "," + c.name;
  out.paths += "\n";
  const PathObserver record = [&](double t, std::span<const double* const> columns) {
    ++out.points;
    for (std::size_t i = 0; i < o.count; ++i) {
      out.paths += fmt::format("{},{}", number_to_text(t), i + 1);
      for (const double* c : columns) out.paths += "," + number_to_text(c[i]);
      out.paths += "\n";
    }
  };
  out.data = simulate(model, model.start_values(), times, settings, o.paths.empty() ? PathObserver{} : record);
  return out;
}

Findings findings_of(const SimulationPlan& plan) {
  if (!plan.chosen || plan.chosen->reached) return {};
  Finding missed{Finding::Code::simulation_tolerance_not_met};
  if (plan.chosen->steps) missed.data.emplace_back("steps", *plan.chosen->steps);
  if (plan.chosen->law) missed.data.emplace_back("law", *plan.chosen->law);
  return {missed};
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void print_simulation_json(const Arguments& o, const Model& model, const SimulationPlan& plan, std::size_t rows,
                           std::uint64_t particle_steps, double seconds) {
  const SimulateOptions& s = plan.settings;
  nlohmann::ordered_json result{{"out", o.out},
                                {"rows", rows},
                                {"series", s.series},
                                {"scheme", name_of(s.scheme)},
                                {"level", s.level},
                                {"law_particles", s.law_particles},
                                {"seed", o.seed},
                                {"seconds", seconds},
                                {"particle_steps", particle_steps},
                                {"parameters", parameters_json(model, model.start_values())},
                                {"warnings", warning_texts(findings_of(plan))},
                                {"findings", findings_json(findings_of(plan))}};
  if (plan.chosen)
    result["errors"] = {{"steps", number_or_null(plan.chosen->steps)}, {"law", number_or_null(plan.chosen->law)}};
  if (!o.paths.empty()) result["paths"] = o.paths;
  print_json(result);
}

std::string error_text(const std::optional<double>& error) {
  return error ? fmt::format("{:.2g}", *error) : "an amount that is not known";
}

void write_simulation(const Arguments& o, const Model& model, const std::vector<double>& times,
                      const SimulationPlan& plan, const Stopwatch& clock) {
  const SimulateOptions& s = plan.settings;
  const Simulated made = simulate_as_planned(o, model, times, s);
  if (!o.paths.empty()) write_file(o.paths, made.paths);
  write_file(o.out, to_csv(made.data));
  for (const std::string& text : warning_texts(findings_of(plan))) fmt::print(stderr, "mckean: warning: {}\n", text);
  const std::size_t rows = times.size() * s.series;
  const std::uint64_t steps = steps_of(times, s) * s.law_particles + (plan.chosen ? plan.chosen->particle_steps : 0);
  if (o.json) return print_simulation_json(o, model, plan, rows, steps, clock.seconds());
  const bool out_shown = o.out == "-", paths_shown = o.paths == "-";
  if (!out_shown) fmt::print("wrote {} ({} rows)\n", o.out, rows);
  if (!o.paths.empty() && !paths_shown)
    fmt::print("wrote {} ({} particles at {} points)\n", o.paths, o.count, made.points);
  if (!plan.chosen || out_shown || paths_shown) return;
  fmt::print("{} steps, level {}, {} law particles, seed {}\n", name_of(s.scheme), s.level, s.law_particles, o.seed);
  fmt::print("errors of the law, in its standard deviations: {} by the last doubling of the steps, {} by chance\n",
             error_text(plan.chosen->steps), error_text(plan.chosen->law));
}
}  // namespace

void run_simulate(const Arguments& o, World& world) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const std::vector<double> times = Times::parse(o.times);
  if (!o.paths.empty() && sized(o) && o.count > o.law_particle_count())
    throw InputError(fmt::format("--count {}: there are only {} particles; lower it, or raise --law-particles", o.count,
                                 o.law_particle_count()));
  world.on_first([&] { check_outputs(o); });
  const SimulationPlan plan = plan_simulation(o, model, times, world);
  world.on_first([&] { write_simulation(o, model, times, plan, clock); });
}
}  // namespace mckean::cli
