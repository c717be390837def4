#include "report/figure_error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/reproduce_error.hpp"

namespace mckean {
namespace {

constexpr double kClaim = -1;  // MSE = O(1/M̄)

// What a panel shows of one parameter.
struct Panel {
  std::string study, parameter;
  int highest = 0;
  std::vector<ErrorPoint> paper, paper_exact, single, stratified;
  Slope slope;
  double reference = 0, reference_error = 0, exact = 0;

  bool agrees() const { return slope.lower <= kClaim && kClaim <= slope.upper; }
  // How much larger error times cost is for the paper's estimator.
  double gain() const {
    const auto work = [](const ErrorPoint& p) { return p.mse * p.cost; };
    return stratified.empty() ? 0 : work(paper.back()) / work(stratified.back());
  }
};

std::vector<double> estimates(std::span<const StudySample> samples, std::size_t parameter) {
  std::vector<double> out;
  for (const StudySample& s : samples) out.push_back(s.estimate[parameter]);
  return out;
}

double mean_cost(std::span<const StudySample> samples) {
  double sum = 0;
  for (const StudySample& s : samples) sum += static_cast<double>(s.particle_steps);
  return sum / static_cast<double>(samples.size());
}

Panel panel_of(const FinishedStudy& study, std::size_t parameter, std::uint64_t seed) {
  const StudySettings& s = study.settings;
  const StudyResult& r = study.result;
  const std::span<const StudySample> all(r.paper), pool = all.first(s.pool());
  const auto values = estimates(pool, parameter), reference = estimates(all.subspan(s.pool()), parameter);
  Panel out{s.name, study.parameters[parameter], s.estimator.highest, {}, {}, {}, {}, {}, 0, 0, r.exact[parameter]};
  out.reference = mean_of(reference), out.reference_error = standard_error(reference);
  out.paper = error_curve(values, s.least, s.most, out.reference, mean_cost(pool));
  out.paper_exact = error_curve(values, s.least, s.most, out.exact, mean_cost(pool));
  out.single = error_curve(estimates(r.single, parameter), 1, s.single_most, out.exact, mean_cost(r.single));
  for (std::size_t n = 0; n < r.stratified.size(); ++n) {
    if (r.stratified[n].empty()) continue;
    ErrorPoint point =
        error_curve(estimates(r.stratified[n], parameter), 1, 1, out.exact, mean_cost(r.stratified[n])).front();
    point.replicates = static_cast<std::size_t>(s.fit_replicates[n]);
    out.stratified.push_back(point);
  }
  out.slope = slope_with_interval(values, s.least, s.most, reference, seed);
  return out;
}

std::string points_table(const std::vector<Panel>& panels) {
  std::string csv = "study,parameter,estimator,against,replicates,blocks,cost,mse\n";
  for (const Panel& p : panels) {
    const auto add = [&](const char* estimator, const char* against, const std::vector<ErrorPoint>& points) {
      for (const ErrorPoint& e : points)
        csv += fmt::format("{},{},{},{},{},{},{},{}\n", p.study, p.parameter, estimator, against, e.replicates,
                           e.blocks, number_to_text(e.cost), number_to_text(e.mse));
    };
    add("paper", "reference", p.paper), add("paper", "exact", p.paper_exact);
    add("single", "exact", p.single), add("stratified", "exact", p.stratified);
  }
  return csv;
}

std::string slopes_table(const std::vector<Panel>& panels) {
  std::string csv = "study,parameter,slope,lower,upper,reference,reference_error,exact\n";
  for (const Panel& p : panels) {
    csv += p.study + "," + p.parameter;
    for (const double v : {p.slope.value, p.slope.lower, p.slope.upper, p.reference, p.reference_error, p.exact})
      csv += "," + number_to_text(v);
    csv += "\n";
  }
  return csv;
}

std::string replicates_table(const FinishedStudy& study) {
  const StudySettings& s = study.settings;
  std::string csv = "estimator,repetition,level,p,particle_steps";
  for (const std::string& name : study.parameters) csv += "," + name;
  csv += "\n";
  const auto add = [&](const std::string& estimator, const std::string& repetition, const StudySample& sample) {
    csv += fmt::format("{},{},{},{},{}", estimator, repetition, sample.level, sample.p, sample.particle_steps);
    for (const double v : sample.estimate) csv += "," + number_to_text(v);
    csv += "\n";
  };
  const auto& r = study.result;
  for (std::size_t i = 0; i < r.paper.size(); ++i)
    add("paper", i < s.pool() ? std::to_string(i / s.most + 1) : "reference", r.paper[i]);
  for (std::size_t i = 0; i < r.single.size(); ++i) add("single", std::to_string(i / s.single_most + 1), r.single[i]);
  for (std::size_t n = 0; n < r.stratified.size(); ++n)
    for (std::size_t i = 0; i < r.stratified[n].size(); ++i)
      add(fmt::format("stratified {:.0f}", s.fit_replicates[n]), std::to_string(i + 1), r.stratified[n][i]);
  return csv;
}

std::string symbol(const std::string& name) {
  constexpr std::pair<const char*, const char*> kGreek[] = {{"theta", "θ"}, {"alpha", "α"}, {"beta", "β"}};
  const auto* const at = std::ranges::find(kGreek, name, &std::pair<const char*, const char*>::first);
  return at == std::end(kGreek) ? name : at->second;
}

std::string panel_script(const Panel& p, const std::string& table) {
  const auto series = [&](const char* estimator, const char* against, const char* style, const char* title) {
    return fmt::format(
        "'{}' skip 1 using (strcol(1) eq '{}' && strcol(2) eq '{}' && strcol(3) eq '{}' && strcol(4) eq '{}' ? $7 : "
        "NaN):8 with {} title '{}'",
        table, p.study, p.parameter, estimator, against, style, title);
  };
  const double cost = p.paper.front().cost / static_cast<double>(p.paper.front().replicates);
  const std::string line = fmt::format(
      "(x > {:.6g} && x < {:.6g} ? exp({:.17g})*(x/{:.17g})**({:.17g}) : NaN) with lines linewidth 1.5 linecolor rgb "
      "'#0072b2' title 'fitted line'",
      p.paper.front().cost * 0.8, p.paper.back().cost * 1.25, p.slope.intercept, cost, p.slope.value);
  return fmt::format(
      "set title \"{} ({}, L = {}): slope {:.2f}, 95 % {:.2f} to {:.2f}\"\nplot {}, \\\n  {}, \\\n  {}, \\\n  {}, \\\n"
      "  {}\n",
      symbol(p.parameter), p.study, p.highest, p.slope.value, p.slope.lower, p.slope.upper,
      series("paper", "reference", "points pointtype 7 pointsize 0.7 linecolor rgb '#0072b2'",
             "paper, against its limit"),
      line,
      series("paper", "exact", "points pointtype 6 pointsize 1.1 linecolor rgb '#56b4e9'",
             "paper, against the exact value"),
      series("single", "exact", "linespoints pointtype 5 pointsize 0.6 linecolor rgb '#e69f00'",
             "single level, against the exact value"),
      series("stratified", "exact", "linespoints pointtype 9 pointsize 0.8 linecolor rgb '#d55e00'",
             "stratified, against the exact value"));
}

std::string sharing_text(const StudySettings& s) {
  return fmt::format(
      "{} repetitions of {} replicates, cut into disjoint blocks of M = {} to {}; limit from {} other replicates",
      s.repetitions, s.most, s.least, s.most, s.reference);
}

std::string panel_text(const std::string& figure, const Panel& p, const StudySettings& s) {
  return fmt::format(
      "{}: the MSE of {} ({}, L = {}) falls like M^{:.3f} (95 % interval {:.3f} to {:.3f}) for M = {} to {} "
      "replicates; the paper's M^-1 {}. Its limit is {:.5g} +- {:.2g}, the exact estimate {:.5g}.{}",
      figure, p.parameter, p.study, p.highest, p.slope.value, p.slope.lower, p.slope.upper, s.least, s.most,
      p.agrees() ? "agrees" : "does NOT agree", p.reference, p.reference_error, p.exact,
      p.stratified.empty()
          ? ""
          : fmt::format(" Error times cost is {:.2g} times that of the stratified estimator.", p.gain()));
}
}  // namespace

Figure error_figure(const std::string& name, const std::vector<FinishedStudy>& studies, std::uint64_t seed) {
  std::vector<Panel> panels;
  Figure out{.name = name};
  std::string shared;
  for (const FinishedStudy& study : studies) {
    for (std::size_t p = 0; p < study.parameters.size(); ++p) {
      panels.push_back(panel_of(study, p, seed_of(seed, "bootstrap " + study.parameters[p])));
      const Panel& last = panels.back();
      out.text.push_back(panel_text(name, last, study.settings));
      out.facts[last.study][last.parameter] = {{"slope", last.slope.value},   {"lower", last.slope.lower},
                                               {"upper", last.slope.upper},   {"agrees", last.agrees()},
                                               {"reference", last.reference}, {"reference_error", last.reference_error},
                                               {"exact", last.exact},         {"gain_of_stratified", last.gain()}};
    }
    out.text.push_back(fmt::format("{}: {}: {}.", name, study.settings.name, sharing_text(study.settings)));
    shared += fmt::format("{}{}: {}", shared.empty() ? "" : "\\n", study.settings.name, sharing_text(study.settings));
    out.tables.push_back({fmt::format("{}-{}-replicates.csv", name, study.settings.name), replicates_table(study)});
  }
  out.tables.push_back({name + ".csv", points_table(panels)});
  out.tables.push_back({name + "-slopes.csv", slopes_table(panels)});
  out.width = 4.6 * static_cast<double>(panels.size()), out.height = 5;
  // The first panel has the key and the line of text for all.
  out.script = fmt::format(
      "set multiplot layout 1,{} margins 0.065,0.985,0.36,0.92 spacing 0.075,0\n"
      "set logscale xy\nset format x '10^{{%T}}'\nset format y '10^{{%T}}'\nset samples 500\n"
      "set xlabel 'cost (particle-steps)'\nset ylabel 'mean squared error'\n"
      "set key at screen 0.05,0.12 left center vertical reverse Left samplen 2 spacing 1.1\n"
      "set label 1 \"{}\" at screen 0.38,0.14 left font ',11'\n",
      panels.size(), shared);
  for (const Panel& p : panels) out.script += panel_script(p, name + ".csv") + "unset label 1\nunset key\n";
  out.script += "unset multiplot\n";
  return out;
}
}  // namespace mckean
