#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/advice.hpp"
#include "cli/command.hpp"
#include "cli/derivative_check.hpp"
#include "law/settling.hpp"
#include "mckean/data.hpp"
#include "mckean/engine.hpp"
#include "model/density.hpp"
#include "problem/blocks.hpp"
#include "problem/support.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSettlingLevel = 2;

const char* method_name(Method m, const Dynamics& dynamics) {
  if (m == Method::pairwise) return dynamics.cells ? "cells" : "pairwise";
  return m == Method::exact ? "exact" : "chebyshev";
}

Json number_or_null(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

// A short horizon for trials where no data say otherwise.
std::vector<double> trial_times(const Data* data) {
  if (data) {
    std::vector<double> times = observation_times(*data);
    times.resize(std::min<std::size_t>(times.size(), 10));
    return times;
  }
  std::vector<double> times(10);
  std::iota(times.begin(), times.end(), 1.0);
  return times;
}

struct Report {
  Json json;
  std::string text;
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    text += fmt::format(format, std::forward<T>(values)...) + "\n";
  }
};

void describe_model(const Model& model, Report& r) {
  r.json["name"] = model.name();
  r.json["dimension"] = model.dimension();
  r.line("model         {}", model.name());
  for (const auto& s : model.spec().states) {
    const std::string start = s.start_sd[0] > 0 ? fmt::format("normal({:g}, {:g})", s.start[0], s.start_sd[0])
                                                : fmt::format("{:g}", s.start[0]);
    r.json["states"].push_back(
        {{"name", s.name}, {"size", s.start.size()}, {"start", s.start}, {"start_sd", s.start_sd}});
    r.line("state         {}{}, starts at {}", s.name, s.start.size() > 1 ? fmt::format("[1..{}]", s.start.size()) : "",
           std::ranges::count(s.start, s.start[0]) == std::ranges::ssize(s.start) ? start : start + ", …");
  }
  r.json["parameters"] = Json::array();
  for (const auto& p : model.parameters()) {
    r.json["parameters"].push_back(
        {{"name", p.name}, {"start", p.start}, {"lower", number_or_null(p.lower)}, {"upper", number_or_null(p.upper)}});
    r.line("parameter     {}, from {:g}{}{}", p.name, p.start,
           std::isfinite(p.lower) ? fmt::format(", above {:g}", p.lower) : "",
           std::isfinite(p.upper) ? fmt::format(", below {:g}", p.upper) : "");
  }
  for (const auto& [name, e] : model.spec().drifts) r.line("drift         {}: {}", name, to_text(e));
  std::vector<std::string> quiet;
  for (const auto& c : model.components())
    if (!c.noisy) quiet.push_back(c.name);
  r.json["diffusion"] = model.diagonal() ? "diagonal" : "full";
  r.json["noise_free"] = quiet;
  r.line("diffusion     {}, {} source{} of noise", model.diagonal() ? "diagonal" : "full matrix", model.noise_sources(),
         model.noise_sources() == 1 ? "" : "s");
  if (!quiet.empty())
    r.line(
        "              without noise: {} (backward sampling cannot join paths there: such models keep their genealogy)",
        fmt::join(quiet, ", "));
  for (const auto& [name, d] : model.spec().observations) {
    std::string law = d.distribution == Distribution::custom ? "log density " + to_text(d.log_density)
                                                             : std::string(info(d.distribution).name);
    for (std::size_t i = 0; i < d.arguments.size(); ++i) law += (i ? ", " : "(") + to_text(d.arguments[i]);
    r.line("observation   {}: {}{}", name, law, d.arguments.empty() ? "" : ")");
  }
  r.json["observed"] = model.columns();
}

std::string shortened(const std::string& text, std::size_t most = 100) {
  return text.size() > most ? text.substr(0, most) + " …" : text;
}

void describe_interactions(const Model& model, const Dynamics& dynamics, Report& r) {
  r.json["interactions"] = Json::array();
  const MeanField& field = dynamics.field;
  const auto cost = [&](Method m) {
    return m == Method::pairwise && !dynamics.cells ? "N per particle and step" : "O(1) per particle and step";
  };
  for (std::size_t i = 0; i < model.interactions().size(); ++i)
    r.json["interactions"].push_back({{"name", model.interactions()[i].name},
                                      {"method", method_name(field.methods[i], dynamics)},
                                      {"rank", field.ranks[i]},
                                      {"cost", cost(field.methods[i])}});
  std::size_t first = 0;  // channel of each interaction as it is written; a vector has one for each component
  for (const auto& [name, kernel] : model.spec().interactions) {
    std::size_t channels = 0;
    while (first + channels < model.interactions().size() &&
           model.interactions()[first + channels].symbol.symbol().name == name)
      ++channels;
    const Method method = field.methods[first];
    r.line("interaction   {}{}: {} -> {}{}, {}", name, channels > 1 ? fmt::format("[1..{}]", channels) : "",
           to_text(kernel), method_name(method, dynamics),
           method == Method::pairwise ? "" : fmt::format(", rank {}", field.ranks[first]), cost(method));
    first += channels;
  }
  std::string moments;
  for (std::size_t m = 0; m < field.exact && moments.size() < 100; ++m)
    moments += (m ? ", " : "") + shortened(to_text(field.moments[m]));
  r.json["moments"] = field.moments.size();
  if (field.exact > 0) r.line("moments       {} in all: means of {}", field.moments.size(), shortened(moments));
}

// "x[1], x[2], … (100 in all)"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, … ({} in all)", fmt::join(names.begin(), names.begin() + most - 2, ", "), names.size());
}

// Components that meet only through the law, a line for each kind of equal blocks.
void describe_blocks(const Model& model, Report& r) {
  const Blocks blocks(model);
  r.json["blocks"] = Json::array();
  std::vector<std::vector<std::string>> of_kind(blocks.kinds.size());
  for (const Block& b : blocks.all) {
    std::vector<std::string> components, observed;
    for (const std::size_t i : b.components) components.push_back(model.components()[i].name);
    for (const std::size_t c : b.columns) observed.push_back(model.columns()[c]);
    r.json["blocks"].push_back({{"components", components}, {"observed", observed}, {"law", b.kind}});
    of_kind[b.kind].push_back(components.size() == 1 ? components[0] : fmt::format("({})", listed(components)));
  }
  constexpr std::size_t most = 5;
  for (std::size_t k = 0; k < std::min(of_kind.size(), most); ++k)
    r.line("{:14}{}{}", k == 0 ? "blocks" : "", listed(of_kind[k]), of_kind[k].size() > 1 ? ", equal: one law" : "");
  if (of_kind.size() > most) r.line("              … and {} more laws", of_kind.size() - most);
}

// Which engine serves, and why exact ones do not.
void describe_engines(const Problem& problem, Report& r) {
  r.json["engines"] = Json::array();
  std::string taken, refusals;
  for (const EngineKind& kind : engine_kinds()) {
    const auto why = kind.refuses(problem);
    r.json["engines"].push_back({{"name", kind.name}, {"exact", kind.exact}, {"refuses", why ? Json(*why) : Json()}});
    if (why) refusals += fmt::format("              not {}: {}\n", kind.name, *why);
    if (why || !taken.empty()) continue;
    taken = kind.name;
    r.json["engine"] = kind.name;
    r.line("engine        {}{}", kind.name, kind.exact ? ", exact: no Monte Carlo error" : "");
  }
  r.text += refusals;
}

void describe_data(const Data& data, Report& r) {
  std::size_t rows = 0, values = 0, missing = 0;
  for (const auto& s : data.series) {
    rows += s.times.size();
    values += s.values.size();
    missing += static_cast<std::size_t>(std::ranges::count_if(s.values, [](double v) { return std::isnan(v); }));
  }
  const std::vector<double> times = observation_times(data);
  const Grid grid(times, 0);
  r.json["data"] = {{"series", data.series.size()},
                    {"rows", rows},
                    {"values", values - missing},
                    {"missing", missing},
                    {"first", times.front()},
                    {"last", times.back()},
                    {"unit", grid.unit},
                    {"steps_at_level_0", grid.steps()}};
  r.line("data          {} series, {} rows, {} values, {} missing, t from {:g} to {:g}", data.series.size(), rows,
         values - missing, missing, times.front(), times.back());
  r.line("              unit of time {:g}: level l has {} * 2^l Euler steps", grid.unit, grid.steps());
}

void describe_costs(const System& system, const Dynamics& dynamics, const Grid& grid, std::span<const double> theta,
                    const LawNoise& noise, LawOptions options, Report& r) {
  options.particles = 512;
  const Stopwatch clock;
  std::uint64_t steps = 0;
  while (clock.seconds() < 0.05) {
    draw_law(system, grid, theta, noise, options);
    steps += options.particles * grid.steps();
  }
  const double ns = 1e9 * clock.seconds() / static_cast<double>(steps);
  r.json["cost"] = {{"law_instructions", dynamics.advance.instructions()},
                    {"filter_instructions", dynamics.move.instructions()},
                    {"nanoseconds_per_particle_step", ns},
                    {"vector_instructions", kernels().name}};
  r.line("cost          {} instructions per particle-step in the law, {} in the filter; about {:.2g} ns ({})",
         dynamics.advance.instructions(), dynamics.move.instructions(), ns, kernels().name);
}

// Whether the law settles over the time of the data, at the start values.
void describe_law(const System& system, const Data& data, std::size_t first_rank, const Arguments& o, Report& r) {
  const Grid grid(observation_times(data), kSettlingLevel, o.unit, Scheme::splitting);
  const Settling settling(system, grid, first_rank, o.seed);
  if (!settling.concerns()) return;
  std::vector<LawTrack> tracks;
  for (std::size_t k = 0; k < settling.tracks(); ++k)
    tracks.push_back(settling.track(k, system.model().start_values()));
  const auto found = settling.judge(tracks);
  r.json["law"] = {{"settles", !found}, {"findings", findings_json(found ? Findings{*found} : Findings{})}};
  if (found)
    fmt::print(stderr, "mckean: warning: {}\n", warning_text(*found));
  else
    r.line("law           settles: independent laws agree as one over the square root of their size");
}

void check_model(const Arguments& o) {
  const Model model = read_model(o.model, o.overrides());
  std::optional<Data> data;
  if (!o.data.empty()) {
    data = read_data(o.data, model.columns());
    check_support(model, *data);
  }
  const System system(model);
  const std::vector<double> theta = model.start_values();
  const Grid grid(trial_times(data ? &*data : nullptr), 4);
  const LawNoise noise{{o.seed, 0, 0, Purpose::law_start}, {o.seed, 0, 0, Purpose::law}};
  LawOptions options{.particles = 256, .cells = CellChoice::always};
  options.first_rank = find_rank(system, grid, theta, noise, options);
  const auto dynamics = system.dynamics(Scheme::euler, system.ranks()[options.first_rank], false);

  Report r;
  describe_model(model, r);
  describe_interactions(model, *dynamics, r);
  describe_blocks(model, r);
  describe_engines({model, data.value_or(Data{"", model.columns(), {}})}, r);
  describe_costs(system, *dynamics, grid, theta, noise, options, r);
  if (data) {
    describe_data(*data, r);
    describe_law(system, *data, options.first_rank, o, r);
  }
  options.particles = 64;
  if (dynamics->cells) options.first_rank = system.ranks().size() - 1;  // tangents of particles are compared
  const double law_error = law_derivative_error(system, grid, theta, noise, options),
               error = expression_derivative_error(model.copy());
  const bool good = law_error < 1e-5 && error < 1e-5;
  r.json["derivatives"] = {{"expressions", error}, {"law", law_error}, {"ok", good}};
  r.line("derivatives   {}: expressions to {:.1e}, tangents of the law to {:.1e} of central differences",
         good ? "agree" : "DISAGREE", error, law_error);
  if (!good)
    fmt::print(stderr,
               "mckean: warning: derivatives and differences disagree; is an expression not smooth at the start (abs, "
               "if, min, max)?\n");
  if (o.json) return print_json(r.json);
  fmt::print("{}", r.text);
}
}  // namespace

void run_check(const Arguments& o, World& world) {
  world.on_first([&] { check_model(o); });
}
}  // namespace mckean::cli
