// The data, with the smoothed path and its band.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "paper/smoothing.hpp"
#include "report/budget.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "run/thread_runner.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kMostPanels = 4;
constexpr double kMostDisagreement = 1.2;

// The first series only: given θ, the others have no part in their paths.
Data first_series(const Data& data, std::size_t count) {
  Data out{data.source, data.columns, {}};
  for (std::size_t s = 0; s < std::min(count, data.series.size()); ++s) out.series.push_back(data.series[s]);
  return out;
}

// The column that observes a component directly: through a distribution about its value.
std::optional<std::size_t> column_of(const Model& model, std::size_t component) {
  for (std::size_t k = 0; k < model.observed().size(); ++k) {
    const ObservedColumn& y = model.observed()[k];
    const std::size_t location = y.distribution == Distribution::student_t ? 1 : 0;
    if ((y.distribution == Distribution::normal || y.distribution == Distribution::student_t) &&
        y.arguments[location] == model.components()[component].symbol)
      return k;
  }
  return {};
}

Points observations(const Data& data, std::size_t s, std::size_t column) {
  Points out;
  for (std::size_t row = 0; row < data.series[s].times.size(); ++row)
    if (const double y = data.value(s, row, column); std::isfinite(y)) out.emplace_back(data.series[s].times[row], y);
  return out;
}

std::string series_text(const Data& data, std::size_t s) {
  return data.series.size() > 1 ? fmt::format(", series {}", data.series[s].name) : "";
}

// Gelman and Rubin's ratio: 1 where chains agree with each other.
double disagreement(const std::vector<std::vector<double>>& chains) {
  const double n = static_cast<double>(chains[0].size()), m = static_cast<double>(chains.size());
  double within = 0, between = 0, all = 0;
  std::vector<double> means;
  for (const auto& chain : chains) {
    const Smoothed s = summarise_draws(chain);
    means.push_back(s.mean), within += s.sd * s.sd / m, all += s.mean / m;
  }
  for (const double mean : means) between += (mean - all) * (mean - all) / (m - 1);
  return within > 0 ? std::sqrt((n - 1) / n + between / within) : 1;
}

struct Smoothing {
  std::string problem;  // why there is none
  std::optional<SmoothingPlan> plan;
  std::vector<std::vector<std::vector<Smoothed>>> value;  // series, component, row
  double disagreement = 1;                                // of the chains, at all but 5 % of the places
};

Smoothing smooth(const Context& c, const Data& data) {
  Smoothing out;
  if (!c.facts.inside) {
    out.problem = "the estimate lies outside the bounds of a parameter";
    return out;
  }
  try {
    const double unit = c.problem.schedule(c.facts.steps).grid.unit;
    const ParticleProblem problem({c.input.model, data, unit}, c.facts.steps.level, c.input.plan.seed);
    out.plan = plan_smoothing(problem, c.facts.steps, c.facts.particles, c.facts.law_particles);
    if (!out.plan) {
      out.problem = "it would take too long for a report; 'mckean smooth' computes it";
      return out;
    }
    const SmoothingPlan& plan = *out.plan;
    ChainOptions options;
    options.particles = plan.particles;
    options.law_particles = options.coarse_law_particles = plan.law_particles;
    options.smoother = smoother_for(c.input.model, {});
    options.burn_in = plan.burn_in;
    options.start = c.facts.theta;
    ThreadRunner runner(c.input.threads);
    const SmoothedChains chains = draw_smoothed(problem, options, seed_of(c.input.plan.seed, "report"), plan.steps,
                                                {0, plan.chains, plan.iterations}, runner);
    std::vector<double> ratios;
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      out.value.emplace_back(c.input.model.dimension());
      for (std::size_t k = 0; k < c.input.model.dimension(); ++k)
        for (std::size_t row = 0; row < data.series[s].times.size(); ++row) {
          std::vector<std::vector<double>> each;
          for (const auto& chain : chains.draws) each.push_back(chain[s][k][row]);
          out.value[s][k].push_back(summarise_draws(all_draws(chains, s, k, row)));
          ratios.push_back(disagreement(each));
        }
    }
    std::ranges::sort(ratios);
    out.disagreement = quantile(ratios, 0.95);
  } catch (const NumericalError& e) {
    out.problem = e.what();
  }
  return out;
}

// One panel: what is smoothed and what was observed of it. Its numbers go to `rows`.
std::string panel(const Context& c, const Data& data, const Smoothing& smoothing, std::size_t s, std::size_t k,
                  std::vector<std::vector<double>>& rows) {
  const std::string& name = c.input.model.components()[k].name;
  const auto& times = data.series[s].times;
  const auto& values = smoothing.value[s][k];
  const auto column = column_of(c.input.model, k);
  std::vector<double> low, high;
  Points mean;
  double widest = 0;
  for (std::size_t row = 0; row < times.size(); ++row) {
    low.push_back(values[row].q05), high.push_back(values[row].q95);
    mean.emplace_back(times[row], values[row].mean);
    widest = std::max(widest, high[row] - low[row]);
  }
  Chart chart({fmt::format("{} given all observations{}", name, series_text(data, s)), "t", name, false, false,
               fmt::format("Smoothed mean from {} at t = {} to {} at t = {}, 90 % band at most {} wide",
                           short_number(mean.front().second), short_number(times.front()),
                           short_number(mean.back().second), short_number(times.back()), short_number(widest))});
  chart.band(times, low, high, SeriesStyle::first, "90 % of the smoothed state");
  chart.line(mean, SeriesStyle::first, "its mean");
  if (column) chart.dots(observations(data, s, *column), SeriesStyle::second, "observed " + data.columns[*column]);
  for (std::size_t row = 0; row < times.size(); ++row) {
    const double y = column ? data.value(s, row, *column) : std::nan("");
    chart.hover(times[row],
                fmt::format("t = {}: {} {} ({} to {}){}", short_number(times[row], 6), name,
                            short_number(values[row].mean, 4), short_number(low[row], 4), short_number(high[row], 4),
                            column ? fmt::format(", observed {}", short_number(y, 4)) : ""));
    rows.push_back({static_cast<double>(s + 1), static_cast<double>(k + 1), times[row], values[row].mean,
                    values[row].sd, low[row], values[row].q50, high[row], y});
  }
  return chart.html();
}

std::string data_panel(const Data& data, std::size_t s, std::size_t column, std::vector<std::vector<double>>& rows) {
  const Points points = observations(data, s, column);
  if (points.empty()) return "";
  Chart chart({fmt::format("Observed {}{}", data.columns[column], series_text(data, s)), "t", data.columns[column],
               false, false, fmt::format("{} observed values", points.size())});
  chart.dots(points, SeriesStyle::second);
  const std::vector<double> missing(5, std::nan(""));
  for (const auto& [t, y] : points) {
    chart.hover(t, fmt::format("t = {}: {} = {}", short_number(t, 6), data.columns[column], short_number(y, 4)));
    rows.push_back({static_cast<double>(s + 1), std::nan(""), t});
    rows.back().insert(rows.back().end(), missing.begin(), missing.end());
    rows.back().push_back(y);
  }
  return chart.html();
}

std::string extent(const Data& data) {
  std::size_t rows = 0, values = 0;
  double first = INFINITY, last = 0;
  for (const Series& s : data.series) {
    rows += s.times.size();
    if (!s.times.empty()) first = std::min(first, s.times.front()), last = std::max(last, s.times.back());
    for (const double y : s.values) values += std::isfinite(y) ? 1 : 0;
  }
  return fmt::format("<p>{} rows{}, {} observed values in {} column{}, from t = {} to {}.</p>\n", rows,
                     data.series.size() > 1 ? fmt::format(" in {} series", data.series.size()) : "", values,
                     data.columns.size(), data.columns.size() == 1 ? "" : "s", short_number(first, 6),
                     short_number(last, 6));
}

// What is not shown: how well the components are known.
std::string others(const Context& c, const Smoothing& smoothing, const std::vector<std::size_t>& shown) {
  std::vector<double> spreads;
  for (std::size_t k = 0; k < c.input.model.dimension(); ++k) {
    double sum = 0;
    for (const Smoothed& v : smoothing.value[0][k]) sum += v.sd;
    spreads.push_back(sum / static_cast<double>(smoothing.value[0][k].size()));
  }
  std::string names;
  for (const std::size_t k : shown) names += (names.empty() ? "" : ", ") + code(c.input.model.components()[k].name);
  std::ranges::sort(spreads);
  return fmt::format(
      "<p>Shown are {} of {} components: {}. Over all of them the smoothed standard deviation, averaged over time, is "
      "{} "
      "to {}, with median {}.</p>\n",
      shown.size(), c.input.model.dimension(), names, short_number(spreads.front()), short_number(spreads.back()),
      short_number(quantile(spreads, 0.5)));
}
}  // namespace

std::string data_section(const Context& c) {
  const Data& all = c.input.data;
  const auto components = spread(c.input.model.dimension(), kMostPanels);
  const std::size_t series = std::max<std::size_t>(1, kMostPanels / components.size());
  const Data data = first_series(all, series);
  const Smoothing smoothing = smooth(c, data);
  std::string out = extent(all), charts;
  std::vector<std::vector<double>> rows;
  if (smoothing.problem.empty())
    for (std::size_t s = 0; s < data.series.size(); ++s)
      for (const std::size_t k : components) charts += panel(c, data, smoothing, s, k, rows);
  else
    out += paragraph(fmt::format("There is no smoothed path: {}.", smoothing.problem));
  // Columns that are no component plus noise stand alone.
  std::vector<std::size_t> alone;
  for (std::size_t column = 0; column < all.columns.size(); ++column) {
    bool drawn = false;
    for (std::size_t k = 0; smoothing.problem.empty() && k < c.input.model.dimension(); ++k)
      drawn = drawn || column_of(c.input.model, k) == column;
    if (!drawn) alone.push_back(column);
  }
  const auto kept = spread(alone.size(), kMostPanels);
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (const std::size_t i : kept) charts += data_panel(data, s, alone[i], rows);
  if (kept.size() < alone.size())
    out += fmt::format("<p>Of the {} observed columns, {} are shown.</p>\n", alone.size(), kept.size());
  if (data.series.size() < all.series.size())
    out += fmt::format("<p>Of the {} series, the first {} shown.</p>\n", all.series.size(),
                       data.series.size() == 1 ? "one is" : fmt::format("{} are", data.series.size()));
  if (smoothing.problem.empty() && components.size() < c.input.model.dimension())
    out += others(c, smoothing, components);
  if (smoothing.disagreement > kMostDisagreement)
    out += fmt::format(
        "<p>The chains behind this figure are too short, or have too few particles, to agree with each other (ratio of "
        "Gelman and Rubin {}): mean and band are rough. {} with more {} computes better ones.</p>\n",
        short_number(smoothing.disagreement), code("mckean smooth"), code("--particles"));
  std::string caption = "The observations.";
  if (smoothing.problem.empty()) {
    const SmoothingPlan& p = *smoothing.plan;
    caption = fmt::format(
        "State given all observations, at {}: mean and 5 % to 95 % quantiles of {} draws (level {}, {} particles, {} "
        "law "
        "particles).",
        escaped(c.facts.place), p.chains * p.iterations, p.steps.level, p.particles, p.law_particles);
  }
  return out + figure(charts, caption, "smoothed.csv",
                      csv({"series", "component", "t", "mean", "sd", "q05", "q50", "q95", "observed"}, rows));
}
}  // namespace mckean::report
