#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "mckean/simulate.hpp"
#include "model/number.hpp"

namespace mckean::cli {
namespace {

struct Options : CommonOptions {
  std::string model, times, out = "data.csv", paths;
  std::size_t count = 100;
  SimulateOptions simulation;
};

double number(std::string_view text) {
  const Number n = parse_number(text);
  if (!n.problem.empty()) throw InputError(fmt::format("--times: {}", n.problem));
  return n.value;
}

// "100": 1, 2, ..., 100. "0.5:0.5:50": from, step, to. "0.3,1,2.5": as listed.
std::vector<double> parse_times(const std::string& text) {
  std::vector<std::string_view> parts;
  const char separator = text.find(':') != std::string::npos ? ':' : ',';
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  constexpr double most = 1e7;
  std::vector<double> times;
  if (separator == ',' && parts.size() > 1) {
    for (const auto p : parts) times.push_back(number(p));
  } else {
    if (parts.size() != 1 && parts.size() != 3) throw InputError("--times: give T, FROM:STEP:TO or a list T1,T2,…");
    const double from = parts.size() == 3 ? number(parts[0]) : 1, step = parts.size() == 3 ? number(parts[1]) : 1;
    const double to = number(parts.back());
    if (parts.size() == 1 && (to < 1 || to != std::floor(to)))
      throw InputError(fmt::format("--times {}: T must be a whole number from 1", text));
    if (!(step > 0) || to < from)
      throw InputError(fmt::format("--times {}: the step must be positive and the end not before the start", text));
    if ((to - from) / step > most) throw InputError(fmt::format("--times {}: more than {:.0g} times", text, most));
    const auto n = static_cast<std::size_t>(std::floor((to - from) / step * (1 + 1e-12) + 1e-9));
    for (std::size_t i = 0; i <= n; ++i) times.push_back(from + static_cast<double>(i) * step);
  }
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] < 0 || (i > 0 && times[i] <= times[i - 1]))
      throw InputError(fmt::format("--times {}: times must be >= 0 and increase", text));
  return times;
}

void run(const Options& o) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const std::vector<double> times = parse_times(o.times), theta = model.start_values();
  SimulateOptions settings = o.simulation;
  settings.seed = o.seed;
  const bool with_paths = !o.paths.empty();
  if (with_paths && (o.count == 0 || o.count > settings.law_particles))
    throw InputError(
        fmt::format("--count {} must be between 1 and the number of particles, {}", o.count, settings.law_particles));

  std::string paths = "t,particle";
  for (const auto& c : model.components()) paths += "," + c.name;
  paths += "\n";
  std::size_t points = 0;
  PathObserver record;
  record = [&](double t, std::span<const double* const> columns) {
    ++points;
    for (std::size_t i = 0; with_paths && i < o.count; ++i) {
      paths += fmt::format("{},{}", number_to_text(t), i + 1);
      for (const double* c : columns) paths += "," + number_to_text(c[i]);
      paths += "\n";
    }
  };
  const Data data = simulate(model, theta, times, settings, record);
  if (with_paths) write_file(o.paths, paths);
  write_file(o.out, to_csv(data));

  const std::uint64_t steps = static_cast<std::uint64_t>(points - 1) * settings.law_particles;
  if (o.json) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
    for (std::size_t p = 0; p < theta.size(); ++p) parameters[model.parameters()[p].name] = theta[p];
    nlohmann::ordered_json result{{"out", o.out},
                                  {"rows", times.size() * settings.series},
                                  {"series", settings.series},
                                  {"level", settings.level},
                                  {"law_particles", settings.law_particles},
                                  {"seed", o.seed},
                                  {"seconds", clock.seconds()},
                                  {"particle_steps", steps},
                                  {"parameters", parameters}};
    if (with_paths) result["paths"] = o.paths;
    return print_json(result);
  }
  if (o.out != "-") fmt::print("wrote {} ({} rows)\n", o.out, times.size() * settings.series);
  if (with_paths && o.paths != "-") fmt::print("wrote {} ({} particles at {} points)\n", o.paths, o.count, points);
}
}  // namespace

void add_simulate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("simulate", "draw data from the model at its parameter values");
  command->add_option("MODEL", o->model, "model file")->required();
  command->add_option("--times", o->times, "observation times: T for 1, 2, …, T; FROM:STEP:TO; or a list T1,T2,…")
      ->required();
  command->add_option("--level", o->simulation.level, "a unit of time is split into 2^level Euler steps")
      ->capture_default_str();
  command->add_option("--law-particles", o->simulation.law_particles, "particles of the system")->capture_default_str();
  command->add_option("--series", o->simulation.series, "particles that are observed, each a series")
      ->capture_default_str();
  command->add_option("--out", o->out, "data file to write; - for stdout")->capture_default_str();
  command->add_option("--paths", o->paths, "also write whole paths of particles to this file (CSV)");
  command->add_option("--count", o->count, "how many particles' paths")->capture_default_str();
  command->add_option("--unit", o->simulation.unit, "unit of time (default: the median spacing of the times)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--full-normals", o->simulation.full_precision, "64-bit instead of 32-bit normal variates");
  o->add_to(*command);
  command->callback([o] { run(*o); });
}
}  // namespace mckean::cli
