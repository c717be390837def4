// The law over time: quantiles of its components, and the order parameter of oscillators.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "law/law.hpp"
#include "paper/smoothing.hpp"
#include "report/budget.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kMostPanels = 4, kMostTimes = 240, kMostParticles = 4096, kFewestParticles = 128;
constexpr double kProbabilities[] = {0.05, 0.25, 0.5, 0.75, 0.95};

struct Fan {
  std::vector<double> quantile[5];
  std::vector<double> order;  // |mean e^{ix}|
};

// Components whose interaction is through the sine or cosine of x − x': phases.
std::vector<bool> phases(const Model& model) {
  std::vector<bool> out(model.dimension(), false);
  for (const Interaction& i : model.interactions())
    for (const Expr e : reachable(std::span(&i.kernel, 1))) {
      if (e.op() != Op::sin && e.op() != Op::cos) continue;
      const Expr d = e.operand(0);
      if (d.op() != Op::sub) continue;
      for (std::size_t k = 0; k < out.size(); ++k) {
        const Expr x = model.components()[k].symbol;
        if ((d.operand(0) == x && d.operand(1) == other(x)) || (d.operand(1) == x && d.operand(0) == other(x)))
          out[k] = true;
      }
    }
  return out;
}

double order_parameter(std::span<const double> x) {
  double c = 0, s = 0;
  for (const double v : x) c += std::cos(v), s += std::sin(v);
  return std::hypot(c, s) / static_cast<double>(x.size());
}

struct LawSize {
  Steps steps;
  std::size_t particles;
};

// As many particles as can be afforded, at the run's level or a coarser one.
std::optional<LawSize> plan(const Context& c) {
  const Work work(c.problem, c.facts.steps.scheme, false);
  for (Steps steps = c.facts.steps; steps.level >= 0; --steps.level)
    for (std::size_t n = kMostParticles; n >= kFewestParticles; n /= 2)
      // A law that does not read itself costs as much to draw.
      if (static_cast<double>(c.problem.schedule(steps).grid.steps() * n) *
              std::max(work.law(n), static_cast<double>(c.input.model.dimension())) <=
          kLawWork)
        return LawSize{steps, n};
  return {};
}

// A fan for each of the components, at a choice of times.
struct Fans {
  std::vector<double> times;
  std::vector<Fan> fans;
};

Fans simulated(const Context& c, LawSize size, std::span<const std::size_t> components) {
  const Grid& grid = c.problem.schedule(size.steps).grid;
  const auto points = spread(grid.time.size(), kMostTimes);
  const auto phase = phases(c.input.model);
  const std::uint64_t seed = seed_of(c.input.plan.seed, "report law");
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  LawOptions options{.particles = size.particles};
  const System& system = c.problem.system();
  options.first_rank = find_rank(system, grid, c.facts.theta, noise, options);
  Fans out{{}, std::vector<Fan>(components.size())};
  std::size_t next = 0;
  const auto watch = [&](std::size_t point, const Cloud& cloud) {
    if (next == points.size() || points[next] != point) return;
    ++next;
    out.times.push_back(grid.time[point]);
    for (std::size_t i = 0; i < components.size(); ++i) {
      const double* x = cloud.state()[components[i]];
      std::vector<double> sorted(x, x + size.particles);
      Fan& fan = out.fans[i];
      if (phase[components[i]]) fan.order.push_back(order_parameter(sorted));
      std::ranges::sort(sorted);
      for (std::size_t q = 0; q < 5; ++q) fan.quantile[q].push_back(quantile(sorted, kProbabilities[q]));
    }
  };
  [[maybe_unused]] const LawStatus status = run_law(system, {grid, c.facts.theta}, noise, options, watch);
  assert(status == LawStatus::good);
  return out;
}

// What the charts show, as a table with one row for each time.
struct FanTable {
  std::vector<std::string> head;
  std::vector<std::vector<double>> rows;
};

std::string quantile_chart(const std::string& name, const std::vector<double>& times, const Fan& fan, FanTable& table) {
  const auto& q = fan.quantile;
  Chart chart({fmt::format("Law of {}", name), "t", name, false, false,
               fmt::format("Median from {} to {}; at the end 90 % of the law lies between {} and {}",
                           short_number(q[2].front()), short_number(q[2].back()), short_number(q[0].back()),
                           short_number(q[4].back()))});
  chart.band(times, q[0], q[4], SeriesStyle::first, "5 % to 95 %");
  chart.band(times, q[1], q[3], SeriesStyle::first, "25 % to 75 %");
  Points median;
  for (std::size_t k = 0; k < times.size(); ++k) median.emplace_back(times[k], q[2][k]);
  chart.line(median, SeriesStyle::first, "median");
  for (std::size_t k = 0; k < times.size(); ++k) {
    chart.hover(times[k], fmt::format("t = {}: median {}, 50 % in {} to {}, 90 % in {} to {}",
                                      short_number(times[k], 4), short_number(q[2][k], 4), short_number(q[1][k], 4),
                                      short_number(q[3][k], 4), short_number(q[0][k], 4), short_number(q[4][k], 4)));
    for (const auto& column : q) table.rows[k].push_back(column[k]);
  }
  for (const double p : kProbabilities) table.head.push_back(fmt::format("{}_q{:02.0f}", name, 100 * p));
  return chart.html();
}

std::string order_chart(const std::string& name, const std::vector<double>& times, const Fan& fan, FanTable& table) {
  Chart chart({fmt::format("Order parameter of {}", name), "t", fmt::format("|mean exp(i {})|", name), false, false,
               fmt::format("From {} to {}", short_number(fan.order.front()), short_number(fan.order.back()))});
  chart.include_y(0), chart.include_y(1);
  Points line;
  for (std::size_t k = 0; k < times.size(); ++k) {
    line.emplace_back(times[k], fan.order[k]);
    chart.hover(times[k], fmt::format("t = {}: {}", short_number(times[k], 4), short_number(fan.order[k], 4)));
    table.rows[k].push_back(fan.order[k]);
  }
  table.head.push_back(name + "_order");
  chart.line(line, SeriesStyle::first, "1: all in phase; 0: none");
  return chart.html();
}

std::string fan_charts(const Model& model, std::span<const std::size_t> components, const Fans& law, FanTable& table) {
  std::string charts;
  table.head = {"t"};
  for (const double t : law.times) table.rows.push_back({t});
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::string& name = model.components()[components[i]].name;
    charts += quantile_chart(name, law.times, law.fans[i], table);
    if (!law.fans[i].order.empty()) charts += order_chart(name, law.times, law.fans[i], table);
  }
  return charts;
}
}  // namespace

std::string law_section(const Context& c) {
  if (!c.facts.inside) return paragraph("The estimate lies outside the bounds of a parameter, where there is no law.");
  const auto size = plan(c);
  if (!size)
    return paragraph(
        "The law would take too long for a report; 'mckean simulate --paths' writes paths of its particles.");
  const Model& model = c.input.model;
  const auto components = spread(model.dimension(), kMostPanels);
  Fans law;
  try {
    law = simulated(c, *size, components);
  } catch (const NumericalError& e) {
    return paragraph(fmt::format("The law could not be computed: {}.", e.what()));
  }
  FanTable table;
  const std::string charts = fan_charts(model, components, law, table);
  std::string out;
  if (components.size() < model.dimension())
    out = fmt::format("<p>Shown are {} of {} components.</p>\n", components.size(), model.dimension());
  return out + figure(charts,
                      fmt::format("Quantiles of {} particles at {}, level {}.", size->particles, escaped(c.facts.place),
                                  size->steps.level),
                      "law.csv", csv(table.head, table.rows));
}
}  // namespace mckean::report
