// The log-likelihood around the estimate.
#include <fmt/format.h>

#include <cmath>

#include "infer/profile.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/likelihood_curve.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

// Log units, where the 95 % interval is a matter of 1.92: the reader is told; a search's curves are left out.
constexpr double kMuchNoise = 0.4, kMostNoise = 0.7;

std::string chart_of(const Context& c, const Curves& curves, const Curve& curve,
                     std::vector<std::vector<double>>& rows) {
  const std::string& name = c.input.model.parameters()[curve.parameter].name;
  const double centre = c.facts.theta[curve.parameter];
  const Parameter& parameter = c.input.model.parameters()[curve.parameter];
  Points line, parabola;
  std::vector<double> x, low, high;
  for (const CurvePoint& p : curve.points) {
    // The parabola of a search is one in θ; the others' is one in unconstrained coordinates.
    const double u = parameter.unconstrained(p.value) - parameter.unconstrained(centre);
    const double se = curve.std_error / std::abs(parameter.slope(parameter.unconstrained(centre)));
    const double away = c.facts.search ? (p.value - centre) / curve.std_error : u / se;
    parabola.emplace_back(p.value, -away * away / 2);
    rows.push_back({static_cast<double>(curve.parameter + 1), p.value, p.relative.value_or(std::nan("")), p.error,
                    parabola.back().second});
    if (!p.relative) continue;
    line.emplace_back(p.value, *p.relative);
    x.push_back(p.value), low.push_back(*p.relative - 2 * p.error), high.push_back(*p.relative + 2 * p.error);
  }
  const auto end = [&](const CurvePoint& p) { return p.relative ? short_number(*p.relative) : std::string("unknown"); };
  Chart chart({fmt::format("Along {}", name), name, "log-likelihood, relative", false, false,
               fmt::format("At {} {} and at {} {} relative to {}", short_number(curve.points.front().value),
                           end(curve.points.front()), short_number(curve.points.back().value), end(curve.points.back()),
                           c.facts.place)});
  if (!curves.quadrature) chart.error_bars(x, low, high, SeriesStyle::first);
  if (curve.ridge || c.facts.theta.size() == 1)
    chart.line(parabola, SeriesStyle::third, "parabola of the standard error");
  chart.line(line, SeriesStyle::first, "log-likelihood");
  chart.dots(line, SeriesStyle::first);
  chart.level(-kFallOfInterval, "1.92 below: 95 % interval");
  for (const CurvePoint& p : curve.points)
    chart.hover(p.value, fmt::format("{} = {}: {}{}", name, short_number(p.value, 5), end(p),
                                     p.error > 0 ? " ± " + short_number(p.error, 2) : ""));
  return chart.html(true);
}
}  // namespace

std::string likelihood_section(const Context& c) {
  const Curves curves = likelihood_curves(c);
  std::string out;
  if (!curves.problem.empty())
    return paragraph(fmt::format("There is no curve of the log-likelihood: {}.", curves.problem));
  if (curves.curves.empty())
    return paragraph(c.facts.finished
                         ? "No parameter has a standard error, so that there is no range to look at; 'mckean profile "
                           "--range' takes one."
                         : "Standard errors, and with them the range to look at, are known at the end of the run.");
  if (c.facts.search && curves.noise > kMostNoise)
    return fmt::format(
        "<p>Curves are left out: the filters that a report can afford ({} of {} particles at each point) have an error "
        "of {} log units, more than a curve would show. <a href=\"#search\">Search</a> shows the samples that the "
        "estimate comes from; {} takes more particles.</p>\n",
        curves.repeats, curves.particles, short_number(curves.noise, 2), code("mckean profile"));
  std::string charts;
  std::vector<std::vector<double>> rows;
  bool ridge = false, missing = false;
  for (const Curve& curve : curves.curves) {
    charts += chart_of(c, curves, curve, rows);
    ridge = ridge || curve.ridge;
    for (const CurvePoint& p : curve.points) missing = missing || !p.relative;
  }
  if (curves.curves.size() < c.facts.theta.size())
    out += fmt::format("<p>Shown are {} of {} parameters{}.</p>\n", curves.curves.size(), c.facts.theta.size(),
                       curves.curves.size() < kMostCurves ? "; the others have no standard error" : "");
  if (curves.noise > kMuchNoise)
    out += "<p>Bars are wide: the filters of a report are too small for this likelihood; " + code("mckean profile") +
           " takes more.</p>\n";
  if (missing)
    out += fmt::format("<p>Where the curve is interrupted, {}.</p>\n",
                       curves.quadrature ? "quadrature has no value" : "no particle explains the data");
  std::string caption = curves.quadrature ? fmt::format("Exact, by quadrature at level {}.", curves.level)
                                          : fmt::format(
                                                "By {} particle filters of {} particles at each point, with the "
                                                "same noise, level {}; bars are two Monte Carlo errors.",
                                                curves.repeats, curves.particles, curves.level);
  if (ridge)
    caption +=
        " The other parameters follow along the ridge of the quadratic approximation: to second order this is the "
        "profile.";
  else if (c.facts.theta.size() > 1)
    caption += " The other parameters stay at their estimates.";
  return out +
         figure(charts, caption, "loglik.csv", csv({"parameter", "value", "relative", "mc_se", "parabola"}, rows));
}
}  // namespace mckean::report
