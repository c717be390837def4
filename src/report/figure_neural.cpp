#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/simulate.hpp"
#include "noise/noise.hpp"
#include "paper/probe.hpp"
#include "report/figure.hpp"
#include "report/figure_settings.hpp"
#include "report/figure_system.hpp"

namespace mckean {
namespace {

// One normal for each neuron.
std::vector<double> draw_normals(std::uint64_t seed, std::size_t count, double mean, double sd) {
  const std::size_t padded = (count + kTileSize - 1) / kTileSize * kTileSize;
  std::vector<double> out(padded);
  normals(kernels(), NormalPrecision::full, Stream(seed, 0, 0, Purpose::data), {0, 0, 1}, 0, padded, out.data());
  out.resize(count);
  for (double& z : out) z = mean + sd * z;
  return out;
}

// The constants `w` and `b` of the model become one number for each component.
Model with_constants(const Model& model, const std::vector<std::pair<std::string, std::vector<double>>>& values) {
  ModelSpec spec = model.copy().spec();
  for (const auto& [name, each] : values) {
    const auto at = std::ranges::find(spec.constants, name, &ConstantSpec::name);
    if (at == spec.constants.end())
      throw InputError(fmt::format("figure 2: the model '{}' has no constant '{}'", model.name(), name));
    at->values = each;
    at->vector = true;
  }
  return Model(std::move(spec));
}

// Counts in equal bins from the smallest value to the largest.
std::string histogram_rows(const std::string& what, const std::vector<double>& values, std::size_t bins) {
  const auto [least, most] = std::ranges::minmax(values);
  const double width = (most - least) / static_cast<double>(bins);
  std::vector<std::size_t> counts(bins);
  for (const double v : values)
    ++counts[std::min(bins - 1, static_cast<std::size_t>(std::max(0.0, (v - least) / width)))];
  std::string rows;
  for (std::size_t i = 0; i < bins; ++i)
    rows += fmt::format("{},{},{},{}\n", what, number_to_text(least + static_cast<double>(i) * width),
                        number_to_text(least + static_cast<double>(i + 1) * width), counts[i]);
  return rows;
}

// Ticks two standard deviations apart, so that their labels do not touch.
std::string histogram_panel(const std::string& what, const std::string& title, const std::string& colour, double sd) {
  return fmt::format(
      "set title '{1}'\nset xlabel '{0}'\nset ylabel 'neurons'\nset xtics {3:g}\n"
      "plot 'figure-2-histograms.csv' skip 1 using (strcol(1) eq '{0}' ? ($2 + $3)/2 : NaN):4:($3 - $2) "
      "with boxes linecolor rgb '{2}' notitle\n",
      what, title, colour, 2 * sd);
}
}  // namespace

Figure neural_figure(const FigureOptions& options) {
  const std::string config = "figure-2.toml";
  const TomlFile file(options.files.text(config), options.files.source(config));
  FigureSettings s(file, file.root(), options.scale);
  const std::string model_name = s.text("model");
  const SystemRun how = read_system_run(s, options.seed);
  const std::size_t copies = s.whole("copies", 1), bins = s.whole("bins", 2);
  const Model typical = parse_model(options.files.text(model_name), options.files.source(model_name));
  const std::size_t d = typical.dimension();
  const double weight_sd = s.number("weight_sd"), bias_sd = s.number("bias_sd");
  const auto weights = draw_normals(seed_of(options.seed, "weights"), d, s.number("weight_mean"), weight_sd);
  const auto biases = draw_normals(seed_of(options.seed, "biases"), d, s.number("bias_mean"), bias_sd);
  s.refuse_others();
  const Model model = with_constants(typical, {{"w", weights}, {"b", biases}});

  std::string path = "t,x\n";
  double mean = 0, squares = 0;
  std::size_t count = 0;  // moments of the second half
  simulate_system(model, copies, how, [&](double t, std::span<const double* const> columns) {
    const double x = columns[0][0];
    path += number_to_text(t) + "," + number_to_text(x) + "\n";
    if (t > how.until / 2) mean += x, squares += x * x, ++count;
  });
  mean /= static_cast<double>(count);
  const double sd = std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean));
  std::string neurons = "neuron,weight,bias\n";
  for (std::size_t i = 0; i < d; ++i)
    neurons += fmt::format("{},{},{}\n", i + 1, number_to_text(weights[i]), number_to_text(biases[i]));

  Figure out{.name = "figure-2", .width = 12, .height = 3.6};
  out.tables = {{"figure-2-activation.csv", path},
                {"figure-2-neurons.csv", neurons},
                {"figure-2-histograms.csv", "what,from,to,count\n" + histogram_rows("weight", weights, bins) +
                                                histogram_rows("bias", biases, bins)}};
  out.script =
      "set multiplot layout 1,3 margins 0.06,0.985,0.16,0.9 spacing 0.07,0.1\n"
      "set style fill solid 0.7 border linecolor rgb 'white'\n"
      "set title 'Activation of one neuron'\nset xlabel 'time (s)'\nset ylabel 'activation'\n"
      "plot 'figure-2-activation.csv' skip 1 using 1:2 with lines linewidth 0.8 linecolor rgb '#0072b2' notitle\n"
      "set yrange [0:*]\n" +
      histogram_panel("weight", "Weights of the neurons", "#009e73", weight_sd) +
      histogram_panel("bias", "Biases of the neurons", "#d55e00", bias_sd) + "unset multiplot\n";
  out.facts = {{"neurons", d}, {"mean_second_half", mean}, {"sd_second_half", sd}};
  out.text = {fmt::format(
      "figure 2: neuron 1 of {}, weight {:.3g} and bias {:.3g}, over {:g} s; in the second half its activation is "
      "{:.3f} on average with standard deviation {:.3f}. The paper gives neither weights, biases nor start: what can "
      "agree is the kind, an activation that settles and fluctuates, and bell-shaped weights and biases.",
      d, weights[0], biases[0], how.until, mean, sd)};
  return out;
}
}  // namespace mckean
