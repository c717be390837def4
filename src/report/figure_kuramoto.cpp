#include <fmt/format.h>

#include <cmath>

#include "mckean/simulate.hpp"
#include "report/figure.hpp"
#include "report/figure_settings.hpp"
#include "report/figure_system.hpp"

namespace mckean {
namespace {

// |mean of e^{ix}|: 1 where all phases agree, about 1/√n where they are spread evenly.
double order_parameter(std::span<const double> phases) {
  double c = 0, s = 0;
  for (const double x : phases) c += std::cos(x), s += std::sin(x);
  return std::hypot(c, s) / static_cast<double>(phases.size());
}

struct Oscillators {
  std::string name, title;
  double K = 0;
};

std::vector<Oscillators> read_systems(const TomlFile& file, const std::string& scale) {
  const toml::array* all = file.root()["system"].as_array();
  if (!all || all->empty()) file.fail("there is no [[system]]; each is a row of the figure");
  std::vector<Oscillators> out;
  for (const auto& node : *all) {
    if (!node.is_table()) file.fail(node, "a [[system]] must be a table");
    FigureSettings s(file, *node.as_table(), scale);
    out.push_back({s.text("name"), s.text("title"), s.number("K")});
    s.refuse_others();
  }
  return out;
}

// One row of panels: all phases, one of them, the order parameter.
std::string panels(const Oscillators& system, const std::string& table, std::size_t oscillators) {
  return fmt::format(
      "set title \"All {0} phases, {1}\"\nset ylabel 'phase (radians)'\nset yrange [*:*]\n"
      "plot for [i=3:{2}] '{3}' skip 1 using 1:i with lines linewidth 0.4 notitle\n"
      "set title \"One phase, {1}\"\n"
      "plot '{3}' skip 1 using 1:3 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle\n"
      "set title \"Order parameter, {1}\"\nset ylabel '|mean of exp(ix)|'\nset yrange [0:1.05]\n"
      "plot '{3}' skip 1 using 1:2 with lines linewidth 1.2 linecolor rgb '#d55e00' notitle\n",
      oscillators, system.title, oscillators + 2, table);
}
}  // namespace

Figure kuramoto_figure(const FigureOptions& options) {
  const std::string config = "figure-1.toml";
  const TomlFile file(options.files.text(config), options.files.source(config));
  FigureSettings s(file, file.root(), options.scale);
  const std::string model_name = s.text("model");
  const double theta = s.number("theta");
  const SystemRun how = read_system_run(s, options.seed);
  const std::size_t oscillators = s.whole("oscillators", 2);
  s.refuse_others({"system"});

  Figure out{.name = "figure-1", .width = 12, .height = 6.5};
  out.script = "set multiplot layout 2,3 margins 0.06,0.985,0.09,0.94 spacing 0.07,0.19\nset xlabel 'time'\n";
  std::vector<std::string> shown;
  for (const Oscillators& system : read_systems(file, options.scale)) {
    const Model model = parse_model(options.files.text(model_name), options.files.source(model_name),
                                    {{"theta", theta}, {"K", system.K}});
    const std::string table = fmt::format("figure-1-{}.csv", system.name);
    std::string csv = "t,order";
    for (std::size_t i = 1; i <= oscillators; ++i) csv += fmt::format(",x[{}]", i);
    csv += "\n";
    double late = 0;  // mean of the order parameter over the second half
    std::size_t count = 0;
    simulate_system(model, oscillators, how, [&](double t, std::span<const double* const> columns) {
      const std::span<const double> phases(columns[0], oscillators);
      const double order = order_parameter(phases);
      csv += number_to_text(t) + "," + number_to_text(order);
      for (const double x : phases) csv += "," + number_to_text(x);
      csv += "\n";
      if (t > how.until / 2) late += order, ++count;
    });
    late /= static_cast<double>(count);
    out.tables.push_back({table, csv});
    out.script += panels(system, table, oscillators);
    out.facts[system.name] = {{"K", system.K}, {"order_parameter_second_half", late}};
    shown.push_back(fmt::format("{:.3f} {} (K = {:+g})", late, system.title, system.K));
  }
  out.script += "unset multiplot\n";
  out.text = {fmt::format(
      "figure 1: {} oscillators, theta = {:g}, {:g} time units; the order parameter's mean over the second half is {}. "
      "The paper's text speaks of trends toward synchronisation: that is so where the order parameter is near 1, "
      "which is not the sign that the paper prints.",
      oscillators, theta, how.until, fmt::join(shown, ", "))};
  return out;
}
}  // namespace mckean
