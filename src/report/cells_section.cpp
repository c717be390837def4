// Per-cell variances and costs, with the allocation of replicates.
#include <fmt/format.h>

#include <cmath>

#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kMostRows = 200;

std::string level_name(const Context& c, const Cell& cell, int lowest) {
  const bool coupled = c.input.plan.estimator != Estimator::single && cell.level > lowest;
  return coupled ? fmt::format("{} − {}", cell.level, cell.level - 1) : fmt::format("{}", cell.level);
}

// What an equal cost would gain most from: numbers in proportion to sd/√(cost of a replicate), for one parameter.
std::vector<double> best_shares(const std::vector<Cell>& cells, std::size_t p) {
  std::vector<double> out;
  double sum = 0;
  for (const Cell& c : cells) {
    out.push_back(c.sd[p] / std::sqrt(static_cast<double>(c.particle_steps) / static_cast<double>(c.count)));
    sum += out.back();
  }
  for (double& v : out) v /= sum;
  return out;
}

std::string table(const Context& c) {
  const auto& cells = c.facts.cells;
  Table t{"Cells of the multilevel sum",
          {"level", "p", "parameter", "replicates", "mean", "standard deviation", "particle-steps", "a replicate"},
          {},
          3};
  for (const Cell& cell : cells)
    for (std::size_t p = 0; p < c.facts.theta.size() && t.rows.size() < kMostRows; ++p)
      t.rows.push_back({level_name(c, cell, cells.front().level), fmt::format("{}", cell.p),
                        code(c.facts.estimates[p].name), number(static_cast<double>(cell.count)), number(cell.mean[p]),
                        std::isfinite(cell.sd[p]) ? number(cell.sd[p]) : "–",
                        number(static_cast<double>(cell.particle_steps)),
                        short_number(static_cast<double>(cell.particle_steps) / static_cast<double>(cell.count))});
  return to_html(t);
}

// For each of a few parameters, variance and cost against the level; for each p a line.
std::string by_level(const Context& c, bool variance, std::size_t parameter) {
  const auto& cells = c.facts.cells;
  const std::string& name = c.facts.estimates[parameter].name;
  Chart chart({variance ? fmt::format("Variance of a replicate, {}", name) : "Cost of a replicate", "level",
               variance ? "variance" : "particle-steps", false, true,
               fmt::format("{} cells; the table above has the numbers", cells.size()), true});
  std::vector<int> lengths;
  for (const Cell& cell : cells)
    if (std::ranges::find(lengths, cell.p) == lengths.end()) lengths.push_back(cell.p);
  std::ranges::sort(lengths);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Points line;
    for (const Cell& cell : cells) {
      if (cell.p != lengths[i]) continue;
      const double value = variance ? cell.sd[parameter] * cell.sd[parameter]
                                    : static_cast<double>(cell.particle_steps) / static_cast<double>(cell.count);
      if (value > 0) line.emplace_back(cell.level, value);
    }
    if (line.empty()) continue;
    // More lengths than looks: the rest is grey.
    const SeriesStyle style = i < 4 ? series_style(i) : SeriesStyle::reference;
    chart.line(line, style, i < 4 ? fmt::format("p = {}", lengths[i]) : i == 4 ? "longer" : "");
    chart.dots(line, style);
  }
  for (const Cell& cell : cells)
    chart.hover(cell.level, fmt::format("level {}, p = {}: sd {}, {} particle-steps, {} replicates", cell.level, cell.p,
                                        short_number(cell.sd[parameter]),
                                        short_number(static_cast<double>(cell.particle_steps)), cell.count));
  return chart.empty() ? "" : chart.html(true);
}

std::string allocation(const Context& c, const std::vector<std::size_t>& shown) {
  const auto& cells = c.facts.cells;
  double all = 0;
  for (const Cell& cell : cells) all += static_cast<double>(cell.count);
  Table t{"Allocation: share of the replicates that a cell had, and the best for each parameter",
          {"level", "p", "had"},
          {},
          1};
  std::vector<std::vector<double>> best;
  for (const std::size_t p : shown) {
    best.push_back(best_shares(cells, p));
    t.head.push_back(code(c.facts.estimates[p].name));
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    t.rows.push_back({level_name(c, cells[k], cells.front().level), fmt::format("{}", cells[k].p),
                      fmt::format("{:.1f} %", 100 * static_cast<double>(cells[k].count) / all)});
    for (const auto& share : best)
      t.rows.back().push_back(std::isfinite(share[k]) ? fmt::format("{:.1f} %", 100 * share[k]) : "–");
  }
  return to_html(t) +
         "<p class=\"note\">The best share is in proportion to the standard deviation over the root of a replicate's "
         "cost: "
         "least error for the money.</p>\n";
}
}  // namespace

std::string cells_section(const Context& c) {
  const auto& cells = c.facts.cells;
  if (cells.empty()) return paragraph("There are no replicates yet, and so no cells.");
  std::string out = table(c);
  if (cells.size() * c.facts.theta.size() > kMostRows)
    out += fmt::format("<p>The first {} rows; run.json has all.</p>\n", kMostRows);
  if (cells.size() == 1) return out + paragraph("There is one cell, so that there is nothing to allocate.");
  const auto shown = spread(c.facts.theta.size(), kMostParameters);
  std::string charts;
  for (const std::size_t p : shown) charts += by_level(c, true, p);
  charts += by_level(c, false, 0);
  std::vector<std::string> head{"level", "p", "replicates", "particle_steps"};
  for (const Estimate& e : c.facts.estimates) head.push_back(e.name + "_mean"), head.push_back(e.name + "_sd");
  std::vector<std::vector<double>> rows;
  for (const Cell& cell : cells) {
    rows.push_back({static_cast<double>(cell.level), static_cast<double>(cell.p), static_cast<double>(cell.count),
                    static_cast<double>(cell.particle_steps)});
    for (std::size_t p = 0; p < cell.mean.size(); ++p)
      rows.back().push_back(cell.mean[p]), rows.back().push_back(cell.sd[p]);
  }
  return out + allocation(c, shown) +
         figure(charts, "Variance of one replicate's difference, and what it costs, by level.", "cells.csv",
                csv(head, rows));
}
}  // namespace mckean::report
