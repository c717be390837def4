// How a search came to its estimate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "paper/smoothing.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/search_parabola.hpp"
#include "report/search_phases.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kMostDots = 600, kMostPhases = 5000;
constexpr double kLeastRange = 6, kMostRange = 200;  // log units that the axis has

double number_of(const Evaluation& e) { return static_cast<double>(e.record.serial) + 1; }

std::string range(std::size_t least, std::size_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{}–{}", least, most);
}

std::string phase_table(const Model& model, const std::vector<Phase>& all) {
  Table t{"Phases of the search", {"phase", "evaluations", "highest value", "level", "particles"}, {}, 1};
  const bool law = !model.interactions().empty();
  const bool tempered = std::ranges::any_of(all, [](const Phase& p) { return p.tempered > 0; });
  const bool failed = std::ranges::any_of(all, [](const Phase& p) { return p.failed > 0; });
  if (law) t.head.emplace_back("law");
  if (tempered) t.head.emplace_back("tempered");
  if (failed) t.head.emplace_back("failed");
  for (const Phase& p : all) {
    t.rows.push_back({escaped(p.name), number(static_cast<double>(p.evaluations)), p.best ? number(*p.best) : "–",
                      range(static_cast<std::size_t>(p.least.level), static_cast<std::size_t>(p.most.level)),
                      range(p.least.particles, p.most.particles)});
    if (law) t.rows.back().push_back(range(p.least.law_particles, p.most.law_particles));
    if (tempered) t.rows.back().push_back(number(static_cast<double>(p.tempered)));
    if (failed) t.rows.back().push_back(number(static_cast<double>(p.failed)));
  }
  return to_html(t);
}

// The lowest value that the chart shows: far below the top a population begins, and of that little is worth seeing.
double floor_of(const std::vector<Evaluation>& evaluations, const Phases& phases) {
  std::vector<double> near, all;
  for (std::size_t i = 0; i < evaluations.size(); ++i)
    if (const auto l = plain_loglik(evaluations[i].record)) {
      all.push_back(*l);
      if (phases.phases[phases.of[i]].kind == Phase::Kind::near_top) near.push_back(*l);
    }
  std::vector<double>& shown = near.empty() ? all : near;
  std::ranges::sort(shown);
  const double top = *std::ranges::max_element(all), low = quantile(shown, near.empty() ? 0.5 : 0.05);
  return top - std::clamp(1.5 * (top - low), kLeastRange, kMostRange);
}

// Of the evaluations of a phase the highest so far, as steps; nothing while that is below the lowest value shown.
Points highest_so_far(const std::vector<Evaluation>& evaluations, const Phases& phases, std::size_t phase,
                      double lowest) {
  Points out;
  double best = -INFINITY, last = 0;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    if (phases.of[i] != phase) continue;
    last = number_of(evaluations[i]);
    const auto l = plain_loglik(evaluations[i].record);
    if (!l || *l <= best) continue;
    if (best >= lowest) out.emplace_back(last, best);
    best = *l;
    if (best >= lowest) out.emplace_back(last, best);
  }
  if (!out.empty()) out.emplace_back(last, best);
  return out;
}

// The same points whatever their values, so that the drawing does not look better than the search.
Points some(const Points& all) {
  Points out;
  for (const std::size_t i : spread(all.size(), kMostDots)) out.push_back(all[i]);
  return out;
}

std::string course_chart(const std::vector<Evaluation>& evaluations, const Phases& phases, double lowest) {
  Points climbing, checks, near, lower;
  double highest = -INFINITY;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const auto l = plain_loglik(evaluations[i].record);
    if (!l) continue;
    highest = std::max(highest, *l);
    const Phase::Kind kind = phases.phases[phases.of[i]].kind;
    Points& points = *l < lowest                  ? lower
                     : kind == Phase::Kind::climb ? climbing
                     : kind == Phase::Kind::check ? checks
                                                  : near;
    points.emplace_back(number_of(evaluations[i]), std::max(*l, lowest));
  }
  Chart chart({"Log-likelihood, evaluation by evaluation", "evaluation", "log-likelihood", false, false,
               fmt::format("{} evaluations; the highest value is {}", evaluations.size(), short_number(highest, 6)),
               true});
  if (!lower.empty()) chart.dots(some(lower), SeriesStyle::reference, fmt::format("below {}", short_number(lowest, 4)));
  if (!climbing.empty()) chart.dots(some(climbing), SeriesStyle::first, "climbing");
  if (!near.empty()) chart.dots(some(near), SeriesStyle::second, "near the top");
  if (!checks.empty()) chart.dots(some(checks), SeriesStyle::fourth, "checks of a point");
  std::string name = "highest so far in its phase";
  for (std::size_t k = 0; k < phases.phases.size(); ++k) {
    if (phases.phases[k].kind == Phase::Kind::check) continue;
    const Points line = highest_so_far(evaluations, phases, k, lowest);
    if (line.empty()) continue;
    chart.line(line, SeriesStyle::third, name);
    name.clear();
  }
  for (const std::size_t i : spread(evaluations.size(), kMostDots))
    if (const auto l = plain_loglik(evaluations[i].record))
      chart.hover(number_of(evaluations[i]), fmt::format("evaluation {} ({}): {}", evaluations[i].record.serial + 1,
                                                         phases.phases[phases.of[i]].name, short_number(*l, 6)));
  return chart.html();
}

std::string numbers_file(const Context& c, const Phases& phases) {
  std::vector<std::string> head{"evaluation", "phase", "level", "particles", "law_particles", "temper", "loglik"};
  for (const Estimate& e : c.facts.estimates) head.push_back(e.name);
  std::vector<std::vector<double>> rows;
  for (const std::size_t i : spread(phases.of.size(), kMostPhases)) {
    const search::Record& r = c.facts.evaluations[i].record;
    const Effort& e = r.point.effort;
    rows.push_back({number_of(c.facts.evaluations[i]), static_cast<double>(phases.of[i] + 1),
                    static_cast<double>(e.level), static_cast<double>(e.particles),
                    static_cast<double>(e.law_particles), e.temper, r.value.loglik.value_or(std::nan(""))});
    rows.back().insert(rows.back().end(), r.point.theta.begin(), r.point.theta.end());
  }
  return csv(head, rows);
}

std::string course(const Context& c, const Phases& phases) {
  const auto& evaluations = c.facts.evaluations;
  std::string caption =
      "Each value has the noise of its filter, so that the highest ones lie above the likelihood; fewer particles have "
      "more noise.";
  if (evaluations.size() > kMostPhases)
    caption += fmt::format(" The file has {} of the {} evaluations; {} writes all.", kMostPhases, evaluations.size(),
                           code("mckean export"));
  return figure(course_chart(evaluations, phases, floor_of(evaluations, phases)), caption, "search.csv",
                numbers_file(c, phases));
}

// The reason that is given most often.
std::string failures(const std::vector<Evaluation>& evaluations) {
  std::map<std::string, std::size_t> reasons;
  std::size_t count = 0;
  for (const Evaluation& e : evaluations)
    if (!e.record.value.loglik) ++count, ++reasons[e.record.value.problem];
  if (count == 0) return "";
  const auto most = std::ranges::max_element(reasons, {}, [](const auto& r) { return r.second; });
  return paragraph(fmt::format("{} of {} evaluations have no likelihood. The most frequent reason: {}.", count,
                               evaluations.size(), most->first));
}
}  // namespace

std::string search_section(const Context& c) {
  const auto& evaluations = c.facts.evaluations;
  if (evaluations.empty()) return paragraph("There are no evaluations of the likelihood yet.");
  const Phases all = phases(evaluations);
  const bool any = std::ranges::any_of(all.phases, [](const Phase& p) { return p.best.has_value(); });
  std::string out;
  if (any)
    out += course(c, all);
  else
    out += paragraph("There is no evaluation yet whose likelihood was not tempered.");
  out += phase_table(c.input.model, all.phases);
  if (std::ranges::any_of(all.phases, [](const Phase& p) { return p.tempered > 0; }))
    out +=
        "<p class=\"note\">Tempered: each observation counted as a part of one, so that the likelihood showed its "
        "slope "
        "above the noise. Such values are on another scale, and the chart leaves them out.</p>\n";
  return out + failures(evaluations) + "<h3>Samples near the top</h3>\n" + parabola_figure(c);
}
}  // namespace mckean::report
