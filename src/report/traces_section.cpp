// Chain traces of a few replicates.
#include <fmt/format.h>

#include <algorithm>

#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "report/traces.hpp"

namespace mckean::report {
namespace {

std::string chart_of(const Context& c, const Traces& traces, std::size_t p) {
  const std::string& name = c.facts.estimates[p].name;
  const Trace& first = traces.traces.front();
  Chart chart({fmt::format("Chains of {}", name), "iteration", name, false, false,
               fmt::format("{} chains from {}; the first ends at {}", traces.traces.size(),
                           short_number(first.theta.front()[p], 5), short_number(first.theta.back()[p], 5)),
               true});
  for (std::size_t k = 0; k < traces.traces.size(); ++k) {
    Points line;
    for (std::size_t n = 0; n < traces.traces[k].theta.size(); ++n)
      line.emplace_back(static_cast<double>(n), traces.traces[k].theta[n][p]);
    chart.line(line, series_style(k), fmt::format("replicate {}", traces.traces[k].index));
  }
  if (c.facts.estimates[p].value) chart.level(*c.facts.estimates[p].value, c.facts.place);
  for (const std::size_t n : spread(first.theta.size(), 100)) {
    std::string text = fmt::format("iteration {}:", n);
    for (const Trace& t : traces.traces) text += " " + short_number(t.theta[n][p], 5);
    chart.hover(static_cast<double>(n), text);
  }
  return chart.html(true);
}
}  // namespace

std::string traces_section(const Context& c) {
  const Traces traces = recompute_chains(c);
  if (!traces.problem.empty()) return paragraph(fmt::format("No chains are shown: {}.", traces.problem));
  const auto shown = spread(c.facts.theta.size(), kMostParameters);
  std::string charts;
  for (const std::size_t p : shown) charts += chart_of(c, traces, p);
  std::vector<std::string> head{"replicate", "iteration"};
  for (const Estimate& e : c.facts.estimates) head.push_back(e.name);
  std::vector<std::vector<double>> rows;
  for (const Trace& t : traces.traces)
    for (std::size_t n = 0; n < t.theta.size(); ++n) {
      rows.push_back({static_cast<double>(t.index), static_cast<double>(n)});
      rows.back().insert(rows.back().end(), t.theta[n].begin(), t.theta[n].end());
    }
  const bool same = std::ranges::all_of(traces.traces, &Trace::same);
  std::string caption = fmt::format(
      "Chains of {} replicates at level {}, p = {}, computed once more from their numbers. {}", traces.traces.size(),
      traces.level, traces.traces.front().p,
      same ? "They end, bit for bit, where those of the run did."
           : "They do not end exactly where those of the run did: it was computed by another build of the program.");
  if (shown.size() < c.facts.theta.size())
    caption += fmt::format(" Shown are {} of {} parameters; the file has all.", shown.size(), c.facts.theta.size());
  return figure(charts, caption, "chains.csv", csv(head, rows));
}
}  // namespace mckean::report
