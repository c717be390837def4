#include "report/likelihood_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/quadrature/quadrature_engine.hpp"
#include "infer/search/box.hpp"
#include "mckean/smooth.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"
#include "report/budget.hpp"
#include "report/thin.hpp"
#include "run/parallel.hpp"

namespace mckean::report {
namespace {

using Eigen::Index, Eigen::VectorXd;

constexpr std::size_t kPoints = 13;
constexpr double kReach = 3;           // standard errors to either side
constexpr double kNearTop = 6;         // log units
constexpr double kGridStepWork = 400;  // operations of a move of one grid point
constexpr std::size_t kMostFilter = 1024, kFewestFilter = 64, kMostRepeats = 8, kFewestRepeats = 4;

// Where the curve goes as its parameter moves by one.
VectorXd direction(const Facts& f, std::size_t parameter, bool& ridge) {
  const auto p = static_cast<Index>(parameter);
  VectorXd out = VectorXd::Unit(static_cast<Index>(f.theta.size()), p);
  ridge = false;
  if (!f.information || out.size() < 2) return out;
  const Index n = out.size();
  Eigen::MatrixXd rest(n - 1, n - 1);
  VectorXd cross(n - 1);
  const auto at = [p](Index i) { return i < p ? i : i + 1; };
  for (Index i = 0; i + 1 < n; ++i) {
    cross[i] = (*f.information)(at(i), p);
    for (Index k = 0; k + 1 < n; ++k) rest(i, k) = (*f.information)(at(i), at(k));
  }
  const VectorXd step = pseudo_inverse(rest) * cross;
  if (!step.allFinite()) return out;
  for (Index i = 0; i + 1 < n; ++i) out[at(i)] = -step[i];
  ridge = true;
  return out;
}

// All places: those of the curves one after another, and the centre last.
struct Places {
  std::vector<Curve> curves;
  std::vector<std::vector<double>> theta;
};

// Points of a curve, by how many standard errors its parameter has moved. A search has its parabola in θ itself, which
// ends at bounds; the others have it in unconstrained coordinates.
std::vector<std::vector<double>> points_along(const Context& c, const Curve& curve, const VectorXd& along) {
  const Model& model = c.input.model;
  const Facts& f = c.facts;
  const auto p = static_cast<Index>(curve.parameter);
  const Parameter& parameter = model.parameters()[curve.parameter];
  const VectorXd u = unconstrained(model.parameters(), f.theta), slope = slopes(model.parameters(), u);
  double low = -kReach, high = kReach;
  if (f.search) {
    low = std::max(low, (parameter.lower - f.theta[curve.parameter]) / curve.std_error);
    high = std::min(high, (parameter.upper - f.theta[curve.parameter]) / curve.std_error);
  }
  const search::Box box(model.parameters());
  std::vector<std::vector<double>> out;
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double moved = (low + (high - low) * static_cast<double>(k) / (kPoints - 1)) * curve.std_error;
    const VectorXd step = moved / std::abs(slope[p]) * along;
    if (!f.search) {
      out.push_back(natural(model.parameters(), u + step));
      continue;
    }
    // Below an upper bound alone θ falls as its coordinate in unconstrained coordinates grows.
    const double sign = slope[p] < 0 ? -1 : 1;
    const VectorXd z = box.from(f.theta) + (sign * slope.cwiseProduct(step)).cwiseQuotient(box.scale);
    out.push_back(box.theta(box.inside(z)));
  }
  return out;
}

Places places(const Context& c) {
  Places out;
  const Facts& f = c.facts;
  std::vector<std::size_t> known;
  for (std::size_t p = 0; p < f.theta.size(); ++p)
    if (f.estimates[p].std_error && *f.estimates[p].std_error > 0) known.push_back(p);
  for (const std::size_t i : spread(known.size(), kMostCurves)) {
    Curve curve{known[i], *f.estimates[known[i]].std_error, false, {}};
    const VectorXd along = direction(f, curve.parameter, curve.ridge);
    for (auto& theta : points_along(c, curve, along)) {
      curve.points.push_back({theta[curve.parameter], {}});
      out.theta.push_back(std::move(theta));
    }
    out.curves.push_back(std::move(curve));
  }
  out.theta.push_back(f.theta);
  return out;
}

// Exact, for states of one component, where it can be afforded.
bool by_quadrature(const Context& c, const Places& at, Curves& out) {
  if (QuadratureEngine::refuses(c.problem.problem())) return false;
  constexpr int kFine = 5;  // Euler's steps, where the run has others
  for (int level = c.facts.steps.scheme == Scheme::euler ? c.facts.steps.level : kFine; level >= 0; --level) {
    // At the centre first, which tells what the others cost, and itself shall not take more than all of them.
    const std::size_t moves = c.problem.schedule(level).grid.steps() * (1 + c.input.data.series.size());
    const QuadratureEngine engine(c.problem.problem(), {.work = kLikelihoodWork / static_cast<double>(moves)});
    const Request request{.effort = {.level = level}, .accepts_implausible = false};
    const Outcome centre = engine.at(c.facts.theta, Order::value, {}, request);
    if (!centre && centre.failure().code == Failure::Code::implausible) return false;
    if (!centre || centre->work * static_cast<double>(at.theta.size()) * kGridStepWork > kLikelihoodWork) continue;
    std::vector<std::optional<double>> value(at.theta.size());
    value.back() = centre->loglik;
    parallel_for(at.theta.size() - 1, c.input.threads, [&](std::size_t i) {
      if (const Outcome v = engine.at(at.theta[i], Order::value, {}, request)) value[i] = v->loglik;
    });
    out.quadrature = true, out.level = level, out.centre = centre->loglik;
    std::size_t i = 0;
    for (Curve& curve : out.curves)
      for (CurvePoint& point : curve.points)
        if (const auto& v = value[i++]) point.relative = *v - centre->loglik;
    return true;
  }
  return false;
}

// By particle filters with the same noise at all places, so that the difference to the centre has a small error.
void by_filters(const Context& c, const Places& at, Curves& out) {
  const Scheme scheme = c.facts.steps.scheme;
  const Work work(c.problem, scheme, false);
  const double n = static_cast<double>(at.theta.size());
  const std::size_t most = c.facts.search ? std::max(kMostFilter, c.facts.particles) : kMostFilter;
  const auto afford = [&] {
    for (out.level = c.facts.steps.level; out.level >= 0; --out.level)
      for (out.particles = most; out.particles >= kFewestFilter; out.particles /= 2)
        for (out.repeats = kMostRepeats; out.repeats >= kFewestRepeats; out.repeats /= 2)
          if (work.iteration(c.problem, {out.level, scheme}, out.particles, out.particles) * n *
                  static_cast<double>(out.repeats) <=
              kFilterWork)
            return true;
    return false;
  };
  if (!afford()) {
    out.problem = "it would take too long for a report; 'mckean loglik' and 'mckean profile' compute it";
    return;
  }
  const std::uint64_t seed = seed_of(c.input.plan.seed, "report likelihood");
  const auto engine = make_engine("particles", c.problem.problem(), {.level = out.level, .seed = seed});
  const Request request{
      .effort = {.level = out.level, .scheme = scheme, .particles = out.particles, .law_particles = out.particles},
      .accepts_implausible = false,
      .quiet_law = false};
  std::vector<std::vector<std::optional<double>>> value(at.theta.size(),
                                                        std::vector<std::optional<double>>(out.repeats));
  parallel_for(at.theta.size() * out.repeats, c.input.threads, [&](std::size_t task) {
    const std::size_t place = task / out.repeats, repeat = task % out.repeats;
    const Outcome v = engine->at(at.theta[place], Order::value, {seed, static_cast<std::uint32_t>(repeat)}, request);
    if (v) value[place][repeat] = v->loglik;
  });
  const auto& centre = value.back();
  std::vector<double> there;
  for (const auto& v : centre)
    if (v) there.push_back(*v);
  if (there.size() < out.repeats) {
    out.problem = fmt::format("at {} no particle explains the data", c.facts.place);
    return;
  }
  out.centre = summarise(there).value;
  std::size_t i = 0;
  for (Curve& curve : out.curves)
    for (CurvePoint& point : curve.points) {
      const auto& here = value[i++];
      double sum = 0, squares = 0;
      const bool all = std::ranges::all_of(here, [](const auto& v) { return v.has_value(); });
      if (!all) continue;
      const double count = static_cast<double>(out.repeats);
      for (std::size_t r = 0; r < out.repeats; ++r) sum += (*here[r] - *centre[r]) / count;
      for (std::size_t r = 0; r < out.repeats; ++r) squares += std::pow(*here[r] - *centre[r] - sum, 2);
      point.relative = sum;
      point.error = std::sqrt(squares / (count - 1) / count);
    }
}

// Where the likelihood has fallen little: of the errors there, the root of the mean square.
double noise_near_top(const Curves& curves) {
  double squares = 0, count = 0;
  for (const Curve& curve : curves.curves)
    for (const CurvePoint& p : curve.points)
      if (p.relative && *p.relative > -kNearTop) squares += p.error * p.error, ++count;
  return count > 0 ? std::sqrt(squares / count) : 0;
}
}  // namespace

Curves likelihood_curves(const Context& c) {
  Curves out;
  if (!c.facts.inside) {
    out.problem = "the estimate lies outside the bounds of a parameter";
    return out;
  }
  const Places at = places(c);
  if (at.curves.empty()) return out;
  out.curves = at.curves;
  try {
    if (!by_quadrature(c, at, out)) by_filters(c, at, out);
  } catch (const NumericalError& e) {
    out.problem = e.what();
  }
  out.noise = noise_near_top(out);
  return out;
}
}  // namespace mckean::report
