// How the estimate settled, and what its error cost.
#include <fmt/format.h>

#include <cmath>

#include "report/chart.hpp"
#include "report/convergence.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

std::string settling(const Context& c, const std::vector<Running>& all, std::size_t p) {
  const std::string& name = c.facts.estimates[p].name;
  std::vector<double> x, low, high;
  Points line;
  Chart chart({fmt::format("{} with more replicates", name), "replicates", name, true, false,
               fmt::format("{} after {} replicates, {} after {}", short_number(all.front().value[p], 5),
                           all.front().replicates, short_number(all.back().value[p], 5), all.back().replicates),
               true});
  for (const Running& r : all) {
    const double n = static_cast<double>(r.replicates);
    line.emplace_back(n, r.value[p]);
    chart.hover(n, fmt::format("{} replicates: {} ± {}", r.replicates, short_number(r.value[p], 6),
                               short_number(r.error[p], 2)));
    if (!std::isfinite(r.error[p])) continue;
    x.push_back(n), low.push_back(r.value[p] - 2 * r.error[p]), high.push_back(r.value[p] + 2 * r.error[p]);
  }
  if (x.size() > 1) chart.band(x, low, high, SeriesStyle::first, "± 2 Monte Carlo errors");
  chart.line(line, SeriesStyle::first, "mean so far");
  chart.dots({line.back()}, SeriesStyle::first);
  if (c.facts.finished && c.facts.estimates[p].value) chart.level(*c.facts.estimates[p].value, "reported estimate");
  return chart.html(true);
}

// Errors of all shown parameters, in units of their standard errors where these are known.
std::string against_cost(const Context& c, const std::vector<Running>& all, const std::vector<std::size_t>& shown) {
  bool relative = true;
  for (const std::size_t p : shown) relative = relative && c.facts.estimates[p].std_error.value_or(0) > 0;
  const auto unit = [&](std::size_t p) { return relative ? *c.facts.estimates[p].std_error : 1.0; };
  Chart chart({"Monte Carlo error against cost", "particle-steps",
               relative ? "error / standard error" : "Monte Carlo error", true, true,
               fmt::format("{} at the end, after {} particle-steps of replicates",
                           short_number(all.back().error[shown[0]] / unit(shown[0])),
                           short_number(all.back().particle_steps))});
  double most = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    Points line;
    for (const Running& r : all)
      if (r.error[shown[i]] > 0) line.emplace_back(r.particle_steps, r.error[shown[i]] / unit(shown[i]));
    if (line.empty()) continue;
    most = std::max(most, line.back().second);
    chart.line(line, series_style(i), c.facts.estimates[shown[i]].name);
  }
  if (chart.empty()) return "";
  // Through the end: what the error does where it falls with the root of the cost.
  const double end = all.back().particle_steps, begin = all.front().particle_steps;
  chart.line({{begin, most * std::sqrt(end / begin)}, {end, most}}, SeriesStyle::reference, "1/√cost");
  for (const Running& r : all)
    chart.hover(r.particle_steps, fmt::format("{} particle-steps: {}", short_number(r.particle_steps),
                                              short_number(r.error[shown[0]] / unit(shown[0]))));
  return chart.html(true);
}
}  // namespace

std::string convergence_section(const Context& c) {
  const auto all = convergence(c.input, c.facts);
  if (all.empty()) return paragraph("There are no replicates yet.");
  const auto shown = spread(c.facts.theta.size(), kMostParameters);
  std::string charts;
  std::vector<std::string> head{"replicates", "particle_steps"};
  std::vector<std::vector<double>> rows;
  for (const Estimate& e : c.facts.estimates) head.push_back(e.name), head.push_back(e.name + "_mc_se");
  for (const Running& r : all) {
    rows.push_back({static_cast<double>(r.replicates), r.particle_steps});
    for (std::size_t p = 0; p < r.value.size(); ++p)
      rows.back().push_back(r.value[p]), rows.back().push_back(r.error[p]);
  }
  for (const std::size_t p : shown) charts += settling(c, all, p);
  charts += against_cost(c, all, shown);
  std::string caption = fmt::format("{} replicates.", c.facts.replicate_count);
  if (shown.size() < c.facts.theta.size())
    caption += fmt::format(" Shown are {} of {} parameters; the file has all.", shown.size(), c.facts.theta.size());
  if (c.input.plan.estimator == Estimator::stratified)
    caption +=
        " All replicates weigh alike here; the estimate gives each round of replicates a share that was fixed "
        "before, so that the ends may differ a little.";
  return figure(charts, caption, "convergence.csv", csv(head, rows));
}
}  // namespace mckean::report
