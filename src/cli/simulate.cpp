#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "cli/command.hpp"
#include "mckean/simulate.hpp"
#include "model/number.hpp"

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

void simulate_data(const Arguments& o) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const std::vector<double> times = Times::parse(o.times), theta = model.start_values();
  const SimulateOptions settings{.level = *o.level,
                                 .law_particles = o.law_particle_count(),
                                 .series = o.series,
                                 .seed = o.seed,
                                 .unit = o.unit,
                                 .full_precision = o.full_normals};
  const bool with_paths = !o.paths.empty();
  if (with_paths && o.count > settings.law_particles)
    throw InputError(fmt::format("--count {}: there are only {} particles; lower it, or raise --law-particles", o.count,
                                 settings.law_particles));
  check_outputs(o);

  std::string paths = "t,particle";
  for (const auto& c : model.components()) paths += "," + c.name;
  paths += "\n";
  std::size_t points = 0;
  const PathObserver record = [&](double t, std::span<const double* const> columns) {
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
    nlohmann::ordered_json result{{"out", o.out},
                                  {"rows", times.size() * settings.series},
                                  {"series", settings.series},
                                  {"level", settings.level},
                                  {"law_particles", settings.law_particles},
                                  {"seed", o.seed},
                                  {"seconds", clock.seconds()},
                                  {"particle_steps", steps},
                                  {"parameters", parameters_json(model, theta)}};
    if (with_paths) result["paths"] = o.paths;
    return print_json(result);
  }
  if (o.out != "-") fmt::print("wrote {} ({} rows)\n", o.out, times.size() * settings.series);
  if (with_paths && o.paths != "-") fmt::print("wrote {} ({} particles at {} points)\n", o.paths, o.count, points);
}
}  // namespace

void run_simulate(const Arguments& o, World& world) {
  world.on_first([&] { simulate_data(o); });
}
}  // namespace mckean::cli
