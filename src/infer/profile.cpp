#include "infer/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/checks.hpp"
#include "infer/continuous.hpp"
#include "infer/maximise.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kReach = 3;          // standard errors to either side
constexpr double kScoreError = 0.07;  // of a score, times a sixth of the range
constexpr double kLongestStep = 2;    // of a Newton correction, in standard errors
constexpr double kShortStep = 0.5;    // after which no other correction is needed
constexpr int kMostRounds = 4;
constexpr int kCoarse = 2, kFinest = 8;  // levels from which the first maximum is extrapolated, and any at the most
constexpr double kLeft = 1e-3;  // of the log-likelihood in continuous time, where values are compared with each other
constexpr double kError = 1e-8, kTolerance = 1e-4;  // there: of single values, and of a maximum in standard errors
constexpr double kOffBound = 1e-6;                  // share of its start by which an estimate is taken off its bound
constexpr Index kMostNodes = 400;
constexpr std::size_t kChains = 8, kLeastIterations = 24, kMostIterations = 2000;

// Weights of the values at four nodes (fewer where there are fewer) about the k-th interval in their cubic at x.
void add_cubic(const VectorXd& nodes, Index k, double x, double factor, VectorXd& weights) {
  const Index count = std::min<Index>(4, nodes.size()), first = std::clamp<Index>(k - 1, 0, nodes.size() - count);
  for (Index i = first; i < first + count; ++i) {
    double w = factor;
    for (Index j = first; j < first + count; ++j)
      if (j != i) w *= (x - nodes[j]) / (nodes[i] - nodes[j]);
    weights[i] += w;
  }
}

// What both methods know of the maximum.
struct Peak {
  VectorXd u;
  MatrixXd information;
  std::optional<double> std_error;  // of the parameter, in unconstrained coordinates
};

// The information about the others alone, inverted, and the direction in which their conditional maximum moves.
struct Ridge {
  MatrixXd others;
  VectorXd direction;
};
Ridge ridge(const MatrixXd& information, Index p) {
  MatrixXd rest = information;
  rest.row(p).setZero(), rest.col(p).setZero();
  Ridge out{pseudo_inverse(rest), VectorXd::Zero(information.rows())};
  out.direction = -out.others * information.col(p);
  out.direction[p] = 1;
  return out;
}

class Profiler {
 public:
  Profiler(Workbench& bench, const ProfileOptions& options)
      : bench_(bench), options_(options), p_(static_cast<Index>(options.parameter)) {}

  Profile run() {
    if (options_.range)
      for (const double value : {options_.range->first, options_.range->second})
        if (!parameter().contains(value))
          throw InputError(fmt::format("the range: {} is not between the bounds of '{}', {} and {}", value,
                                       parameter().name, parameter().lower, parameter().upper));
    if (options_.engine == "particles")
      by_scores();
    else
      by_values(*make_engine(options_.engine, bench_.problem.problem()));
    find_interval();
    for (const ProfilePoint& point : out_.points)
      if (point.relative > 0.1 + 4 * point.error) {
        out_.findings.push_back({Finding::Code::higher_elsewhere,
                                 {{"parameter", parameter().name},
                                  {"value", point.theta[options_.parameter]},
                                  {"relative", point.relative}}});
        break;
      }
    out_.particle_steps = bench_.particle_steps;
    return std::move(out_);
  }

 private:
  const Model& model() const { return bench_.model(); }
  const Parameter& parameter() const { return model().parameters()[options_.parameter]; }

  // Evenly spaced in unconstrained coordinates.
  VectorXd grid(const Peak& peak) const {
    double low = 0, high = 0;
    if (options_.range) {
      low = parameter().unconstrained(options_.range->first), high = parameter().unconstrained(options_.range->second);
      if (low > high)
        std::swap(low, high);  // a parameter with an upper bound only runs backwards in unconstrained coordinates
    } else {
      if (!peak.std_error)
        throw NumericalError(
            fmt::format("the data do not determine '{}' at the maximum, so that there is no standard "
                        "error to choose a range by; give one",
                        parameter().name));
      low = peak.u[p_] - kReach * *peak.std_error, high = peak.u[p_] + kReach * *peak.std_error;
    }
    return VectorXd::LinSpaced(static_cast<Index>(options_.points), low, high);
  }

  void set_estimate(const Peak& peak) {
    out_.estimate = natural(model().parameters(), peak.u);
    if (peak.std_error) out_.std_error = *peak.std_error * std::abs(parameter().slope(peak.u[p_]));
  }

  // At an effort, with a parameter held or with none.
  static Maximum highest(const Engine& engine, const Effort& effort, const std::vector<double>& start,
                         std::vector<std::size_t> held, std::stop_token stop) {
    const auto found =
        maximise(engine, start,
                 {.request = {.effort = effort, .error = effort.extrapolated ? kError : 0, .stop = std::move(stop)},
                  .tolerance = effort.extrapolated ? kTolerance : MaximiseOptions().tolerance,
                  .held = std::move(held),
                  .finest = kFinest});
    if (!found) throw NumericalError(found.failure().message);
    return *found;
  }

  Maximum highest_of_all(const Engine& engine, const Effort& effort, const std::vector<double>& start) {
    const Task task{fmt::format("profile maximum level {}", effort.level), effort.extrapolated ? 1u : 0u};
    return run_records(bench_.runner, std::span(&task, 1), [&](std::size_t, std::stop_token stop) {
      return highest(engine, effort, start, {}, std::move(stop));
    })[0];
  }

  // That of the level which is asked for, or of the diffusion: from which levels that is extrapolated depends on θ, and
  // is found at the maximum of a coarse one.
  std::pair<Effort, Maximum> top_of(const Engine& engine) {
    const std::vector<double> start = model().start_values();
    Effort effort = options_.level ? Effort{.level = *options_.level} : continuous_effort(engine, kCoarse);
    Maximum found = highest_of_all(engine, effort, start);
    if (!effort.extrapolated) return {effort, found};
    out_.levels = in_continuous_time(engine, found.theta, Order::information, bench_.runner, kLeft).levels;
    bench_.particle_steps += static_cast<std::uint64_t>(found.work);
    effort = continuous_effort(engine, out_.levels.front());
    return {effort, highest_of_all(engine, effort, found.theta)};
  }

  void by_values(const Engine& engine) {
    out_.level = options_.level;
    const auto take = [&](const Maximum& m, const std::string& where) {
      bench_.particle_steps += static_cast<std::uint64_t>(m.work);
      if (!m.message.empty())
        out_.findings.push_back({Finding::Code::maximum_problem_at, {{"place", where}, {"problem", m.message}}});
    };
    const auto [effort, best] = top_of(engine);
    take(best, "the maximum");
    std::vector<double> inside = best.theta;  // since a bound is infinitely far in unconstrained coordinates
    for (const std::size_t p : best.at_bound) {
      const double start = model().parameters()[p].start;
      inside[p] += kOffBound * (start == inside[p] ? 1 : start - inside[p]);
    }
    Peak peak{
        unconstrained(model().parameters(), inside), unconstrained_information(model(), inside, best.information), {}};
    if (const auto covariance = inverse_if_positive(peak.information))
      peak.std_error = std::sqrt((*covariance)(p_, p_));
    set_estimate(peak);
    out_.loglik = LikelihoodSummary{best.loglik, 0.0};
    const VectorXd nodes = grid(peak), direction = ridge(peak.information, p_).direction;
    std::vector<Task> tasks;
    for (std::uint32_t k = 0; k < options_.points; ++k) tasks.push_back({"profile", k});
    const auto results = run_records(bench_.runner, tasks, [&, &at = effort](std::size_t k, std::stop_token stop) {
      const double away = nodes[static_cast<Index>(k)] - peak.u[p_];
      return highest(engine, at, natural(model().parameters(), peak.u + away * direction), {options_.parameter},
                     std::move(stop));
    });
    for (const Maximum& m : results) {
      out_.points.push_back({m.theta, m.loglik - best.loglik, 0});
      take(m, fmt::format("{} = {:.6g}", parameter().name, out_.points.back().theta[options_.parameter]));
    }
  }

  void by_scores() {
    Pilot pilot = explore(bench_, "", options_.pilot);
    out_.findings = pilot.findings;
    const std::vector<bool> known = determined(model(), pilot, out_.findings);
    if (!pilot.arrived || !pilot.maximum.converged) out_.findings.push_back({Finding::Code::profile_not_at_rest});
    const MatrixXd& w = pilot.maximum.whitening;
    Peak peak{pilot.maximum.u, pilot.maximum.information, {}};
    if (known[options_.parameter]) peak.std_error = w.row(p_).norm();
    set_estimate(peak);
    out_.level = pilot.plan.highest;
    const VectorXd wanted = grid(peak), nodes = covering(wanted, peak.u[p_]);
    const Ridge along = ridge(peak.information, p_);
    // A score that errs by e errs the profile at the ends by about e times half the range.
    const double per_iteration = along.direction.dot(pilot.maximum.noise * along.direction);
    const double scale = (wanted[wanted.size() - 1] - wanted[0]) / (2 * kReach * kScoreError);
    const auto iterations = static_cast<std::size_t>(
        std::clamp(per_iteration * scale * scale / kChains, double{kLeastIterations}, double{kMostIterations}));

    std::vector<Place> places;
    for (const double node : nodes)
      places.push_back({peak.u + (node - peak.u[p_]) * along.direction, pilot.plan.highest, pilot.plan.chains.back()});
    const std::vector<Probe> probes = follow_ridge(places, along, iterations);
    integrate(peak, along.direction, nodes, probes);
    for (std::size_t k = 0; k < places.size(); ++k) out_.points[k].theta = natural(model().parameters(), places[k].u);
    // Those that only led from the estimate to the range are not shown.
    const auto first = static_cast<std::ptrdiff_t>(std::ranges::lower_bound(nodes, wanted[0]) - nodes.begin());
    out_.points.erase(out_.points.begin() + first + wanted.size(), out_.points.end());
    out_.points.erase(out_.points.begin(), out_.points.begin() + first);
    try {
      out_.loglik = likelihood_at(bench_, "profile ", {.level = *out_.level}, out_.estimate).summary;
    } catch (const NumericalError& e) {
      out_.findings.push_back({Finding::Code::no_loglik, {{"problem", e.what()}}});
    }
  }

  // More nodes at the same distances until they reach the estimate.
  VectorXd covering(const VectorXd& wanted, double estimate) const {
    const double h = wanted[1] - wanted[0], low = wanted[0], high = wanted[wanted.size() - 1];
    const double slack = 1e-9 * h;
    const double below = std::ceil(std::max(0.0, (low - estimate - slack) / h));
    const double above = std::ceil(std::max(0.0, (estimate - high - slack) / h));
    if (!(below + above + static_cast<double>(wanted.size()) <= double{kMostNodes}))
      throw InputError(
          fmt::format("the range is too far from the estimate of '{}', {:.6g}; take a range nearer to it, or "
                      "fewer points",
                      parameter().name, out_.estimate[options_.parameter]));
    VectorXd out(static_cast<Index>(below + above) + wanted.size());
    for (Index k = 0; k < out.size(); ++k) out[k] = low + (static_cast<double>(k) - below) * h;
    out.segment(static_cast<Index>(below), wanted.size()) = wanted;
    return out;
  }

  // Scores at the places; these are moved to where the others are at their conditional maximum.
  std::vector<Probe> follow_ridge(std::vector<Place>& places, const Ridge& along, std::size_t iterations) {
    const bool alone = !(along.others.diagonal().maxCoeff() > 0);
    for (int round = alone ? 1 : 0;; ++round) {
      // The first round only corrects the prediction.
      const std::size_t each = round == 0 ? std::max(kLeastIterations, iterations / 4) : iterations;
      auto probes = probe(bench_, fmt::format("profile {}", round), places, {.chains = kChains, .iterations = each});
      double longest = 0;
      for (std::size_t k = 0; k < places.size(); ++k) {
        if (!probes[k].found)
          throw NumericalError(fmt::format("at {}: {}; take a narrower range",
                                           to_text(model().parameters(), natural(model().parameters(), places[k].u)),
                                           probes[k].problem));
        const VectorXd step = along.others * probes[k].score;
        const double length = std::sqrt(std::max(0.0, step.dot(probes[k].score)));
        places[k].u += step * std::min(1.0, kLongestStep / std::max(length, 1e-300));
        longest = std::max(longest, length);
      }
      bench_.observer.message(fmt::format(
          "profile, round {}: {} places, {} chains of {} iterations each; the longest correction is {:.2g} standard "
          "errors",
          round + 1, places.size(), kChains, each, longest));
      if (round > 0 && (longest < kShortStep || round + 1 == kMostRounds)) {
        if (longest > kLongestStep) out_.findings.push_back({Finding::Code::others_not_at_maximum});
        return probes;
      }
    }
  }

  void integrate(const Peak& peak, const VectorXd& direction, const VectorXd& nodes, const std::vector<Probe>& probes) {
    const Index n = nodes.size();
    VectorXd slope(n), variance(n);
    for (Index k = 0; k < n; ++k) {
      const Probe& probe = probes[static_cast<std::size_t>(k)];
      slope[k] = direction.dot(probe.score);
      variance[k] = direction.dot(probe.score_error * direction);
    }
    // The estimate errs a little: where it has slope s, the maximum is higher by s²/2I.
    const double curvature = direction.dot(peak.information * direction);
    VectorXd here = VectorXd::Zero(n);
    const auto interval = static_cast<Index>(std::ranges::upper_bound(nodes, peak.u[p_]) - nodes.begin()) - 1;
    add_cubic(nodes, std::clamp<Index>(interval, 0, n - 2), peak.u[p_], 1, here);
    const double s = here.dot(slope), below = curvature > 0 ? s * s / (2 * curvature) : 0;
    for (const double node : nodes) {
      const VectorXd weights = integral_weights(nodes, peak.u[p_], node);
      const VectorXd gradient = curvature > 0 ? (weights - here * s / curvature).eval() : weights;
      out_.points.push_back({{}, weights.dot(slope) - below, std::sqrt(gradient.cwiseAbs2().dot(variance))});
    }
  }

  void find_interval() {
    const Parameter& p = parameter();
    const double top = p.unconstrained(out_.estimate[options_.parameter]);
    std::vector<std::pair<double, double>> roots{{top, 0}};  // u and signed root
    for (const ProfilePoint& point : out_.points) {
      const double u = p.unconstrained(point.theta[options_.parameter]);
      if (std::abs(u - top) > 1e-12 * (1 + std::abs(top))) roots.emplace_back(u, signed_root(point.relative, u > top));
    }
    std::ranges::sort(roots);
    const auto from = std::ranges::find(roots, std::pair{top, 0.0});
    const double fall = std::sqrt(2 * kFallOfInterval);
    const auto crossing = [&](auto a, auto end, double level) -> std::optional<double> {
      for (auto b = std::next(a); b != end; a = b++)
        if (std::abs(b->second) >= fall)
          return p.natural(a->first + (b->first - a->first) * (level - a->second) / (b->second - a->second));
      return {};
    };
    out_.upper = crossing(from, roots.end(), fall);
    out_.lower = crossing(std::make_reverse_iterator(std::next(from)), roots.rend(), -fall);
    if (p.slope(top) < 0) std::swap(out_.lower, out_.upper);
  }

  Workbench& bench_;
  const ProfileOptions& options_;
  Index p_;
  Profile out_;
};
}  // namespace

double signed_root(double relative, bool above) {
  const double root = std::sqrt(std::max(0.0, -2 * relative));
  return above ? root : -root;
}

VectorXd integral_weights(const VectorXd& nodes, double from, double to) {
  VectorXd out = VectorXd::Zero(nodes.size());
  const double sign = to < from ? -1 : 1;
  const double low = std::min(from, to), high = std::max(from, to);
  for (Index k = 0; k + 1 < nodes.size(); ++k) {
    const double a = std::max(low, nodes[k]), b = std::min(high, nodes[k + 1]);
    if (!(a < b)) continue;
    const double middle = (a + b) / 2, half = (b - a) / 2, gauss = half / std::sqrt(3.0);  // exact for cubics
    for (const double x : {middle - gauss, middle + gauss}) add_cubic(nodes, k, x, sign * half, out);
  }
  return out;
}

Profile profile(const ParticleProblem& problem, const ProfileOptions& options, TaskRunner& runner,
                FitObserver& observer) {
  Workbench bench{problem, runner, observer, options.seed};
  return profile(bench, options);
}

Profile profile(Workbench& bench, const ProfileOptions& options) { return Profiler(bench, options).run(); }
}  // namespace mckean
