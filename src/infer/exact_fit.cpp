#include "infer/exact_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/extrapolation.hpp"
#include "infer/checks.hpp"
#include "infer/exact_interval.hpp"
#include "infer/exact_search.hpp"
#include "infer/search/evaluation.hpp"
#include "model/symmetric.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

// Levels: of the search by Euler's steps and by splitting ones, up to which a coarse one may be without a likelihood,
// and from which no extrapolation begins.
constexpr int kCoarseEuler = 2, kCoarseSplitting = 1, kLastCoarse = 5, kHighest = 7;
constexpr double kAgree = 1e-3;    // standard errors by which an extrapolation may err
constexpr double kMoves = 0.1;     // the same, from which on it is said
constexpr double kParabola = 0.1;  // length of a step, in standard errors, that needs no other
constexpr double kComparable = 3;  // log units within which another maximum is reported
constexpr double kRival = 15;      // and on a level, since the next one may prefer it
constexpr std::size_t kMostRivals = 5;
constexpr int kFewIterations = 15;
constexpr double kElsewhere = 3;  // standard errors from which on it is another
constexpr double kTolerance = 1e-4,
                 kExact = 1e-8;  // of the last step, in standard errors; of a level that is asked for
constexpr double kError = 1e-6, kRoughError = 1e-4;  // of a log-likelihood in continuous time, and of one on the way
constexpr double kBearable = 2e9;                    // moves of a point and entry of its jet, in a whole fit
constexpr double kLeastLooking = 3e6,
                 kMostLooking = 3e7;  // and in looking around on the coarse level, half of a fit or so much
constexpr double kEvaluations = 50;   // of the likelihood and its derivatives in a fit, on the coarse level, by cost

// What the value costs with all first and second derivatives, over the value alone.
double derivatives(std::size_t parameters) { return static_cast<double>((parameters + 1) * (parameters + 2)) / 2; }

struct ValueCost {
  std::optional<double> work;  // none where there is no value
};
constexpr auto record_of(const ValueCost*) { return record("cost of a value", &ValueCost::work); }

class ExactFit {
 public:
  ExactFit(Workbench& bench, const Engine& engine, const FitPlan& given)
      : bench_(bench),
        engine_(engine),
        given_(given),
        tasks_(bench, engine, given.quadrature_level ? ExactErrors{} : ExactErrors{kError, kRoughError}) {}

  // Moves of a point and entry of the jet that a fit takes, by one value at the start by the longest steps that have
  // one; none where there is no value.
  std::optional<double> expected_work() {
    const bool given = given_.quadrature_level.has_value();
    if (engine_.continuous() && !given) {
      coarse_ = {.level = kContinuous};
      return expected_work_here();
    }
    const Scheme scheme = given ? given_.search.scheme : engine_.scheme();
    const int first = scheme == Scheme::euler ? kCoarseEuler : kCoarseSplitting;
    for (coarse_ = {first, scheme}; coarse_.level <= kLastCoarse; ++coarse_.level) {
      if (given) coarse_.level = std::min(coarse_.level, *given_.quadrature_level);
      if (const auto work = expected_work_here()) return work;
      if (given && coarse_.level == *given_.quadrature_level) break;
    }
    return {};
  }

  // None where no start has a likelihood. Stopped or out of time it tells what it has.
  std::optional<FitResult> run() {
    FitResult out;
    bool finished = false;
    try {
      tell(std::string(engine_.name()));
      find();
      if (!best_.found()) return {};
      refine();
      describe(out);
      report_maxima(out);
      look_at_sides(out);
      finished = true;
    } catch (const Stopped&) {
      if (!best_.found()) throw;
      out.stopped = true;
    } catch (const search::OutOfTime&) {
      if (!best_.found())
        throw NumericalError("the time granted was used up before any likelihood was known; grant more");
      findings_.push_back({Finding::Code::out_of_time});
    }
    if (!finished) {
      describe(out);
      out.intervals.assign(out.value.size(), {});
      out.converged = false;
    }
    return out;
  }

  const std::string& problem() const { return best_.problem; }

 private:
  const Model& model() const { return bench_.model(); }

  std::optional<double> expected_work_here() {
    const std::optional<double> cost = cost_of_value();
    if (!cost) return {};
    tasks_.set_cost(coarse_.level, *cost, kBearable / (derivatives(model().parameters().size()) * 8));
    expected_ = *cost * derivatives(model().parameters().size()) * kEvaluations;
    return expected_;
  }

  void describe(FitResult& out) const {
    out.engine = engine_.name();
    out.exact = true;
    out.value = best_.theta;
    out.mc_se.assign(out.value.size(), 0);
    out.lowest = levels_.empty() ? steps_.level : levels_.front();
    out.highest = levels_.empty() ? steps_.level : levels_.back();
    out.continuous = steps_.extrapolated || steps_.level == kContinuous;
    out.scheme = steps_.scheme;
    out.loglik = LikelihoodSummary{best_.loglik, 0.0};
    out.converged = best_.converged;
    out.findings = findings_;
    if (!best_.problem.empty()) out.findings.push_back({Finding::Code::maximum_problem, {{"problem", best_.problem}}});
    if (!best_.converged && best_.problem.empty()) out.findings.push_back({Finding::Code::not_converged});
  }

  // Intervals, and whether the fitted model predicts the data.
  void look_at_sides(FitResult& out) {
    exact_intervals(bench_, tasks_, {best_, held_, steps_}, out);
    check_intervals(out);
    check_fit(out);
  }

  double tolerance() const { return given_.quadrature_level ? kExact : kTolerance; }

  void tell(const std::string& phase) {
    FitObserver::Progress p;
    p.phase = phase;
    p.estimate = best_.theta;
    if (best_.found()) p.loglik = best_.loglik;
    bench_.observer.progress(p);
  }

  // Of one value at the start.
  std::optional<double> cost_of_value() {
    const Task task{"quadrature cost " + coarse_.text(), 0};
    return run_records(bench_.runner, std::span(&task, 1),
                       [&](std::size_t, std::stop_token stop) {
                         Request r = tasks_.at(coarse_, std::move(stop));
                         r.accepts_implausible = false;
                         for (r.effort.temper = 1; r.effort.temper > 1e-5; r.effort.temper /= 4) {
                           const Outcome v = engine_.at(model().start_values(), Order::value, {}, r);
                           if (v) return ValueCost{v->work};
                           if (v.failure().code != Failure::Code::implausible) break;
                         }
                         return ValueCost{};
                       })[0]
        .work;
  }

  void find() {
    steps_ = coarse_;
    ExactSearchOptions options{
        .steps = coarse_,
        .evaluations = std::clamp(expected_ / 2, kLeastLooking, kMostLooking) * kEvaluations / expected_,
        .starts = given_.search.starts,
        .seed = given_.seed};
    ExactSearchResult found = exact_search(bench_, tasks_, options);
    while (found.maxima.empty() && !given_.quadrature_level && coarse_.level != kContinuous &&
           coarse_.level < kLastCoarse) {
      ++coarse_.level;
      options.steps = steps_ = coarse_;
      found = exact_search(bench_, tasks_, options);
    }
    if (found.maxima.empty()) {
      best_.problem = found.problem;
      return;
    }
    best_ = found.maxima[0];
    for (std::size_t k = 1; k < std::min(found.maxima.size(), kMostRivals + 1); ++k)
      if (found.maxima[k].loglik > best_.loglik - kRival) rivals_.push_back(found.maxima[k]);
  }

  // On the level that is asked for; else in continuous time, extrapolated from finer and finer levels until that no
  // longer moves the maximum.
  void refine() {
    if (given_.quadrature_level) return climb({*given_.quadrature_level, coarse_.scheme});
    if (coarse_.level == kContinuous) return climb(coarse_);
    leave_behind({coarse_.level + 1, coarse_.scheme});
    climb({coarse_.level, coarse_.scheme, true});
    while (best_.found() && best_.converged) {
      const ExactSteps finer = steps_.finer();
      const ExactValue there = tasks_.evaluate("finer", finer, best_.theta);
      if (!there.found()) {
        findings_.push_back({Finding::Code::level_without_maximum, {{"level", finer.level}}});
        return;
      }
      const VectorXd step = newton(there);
      const double length = length_of(step), left = length / extrapolation_gain(finer.scheme);
      const bool dear = finer.level >= kHighest || !tasks_.affordable(finer.finer());
      if (length < kParabola && (left < kAgree || dear) && move(step, there, finer)) {
        if (left > kMoves) tell_doubt(left);
        return;
      }
      if (dear) return tell_doubt(length);
      climb(finer);
    }
  }

  void tell_doubt(double shift) {
    if (shift > kMoves)
      findings_.push_back({Finding::Code::extrapolations_differ,
                           {{"lower", steps_.level}, {"upper", steps_.level + 1}, {"shift", shift}}});
  }

  // Newton's step with other steps of time, the parameters at bounds held.
  VectorXd newton(const ExactValue& there) const {
    VectorXd gradient = there.gradient;
    MatrixXd information = there.information;
    for (const std::size_t p : held_) {
      const auto i = static_cast<Index>(p);
      gradient[i] = 0, information.row(i).setZero(), information.col(i).setZero(), information(i, i) = 1;
    }
    return pseudo_inverse(information) * gradient;
  }
  double length_of(const VectorXd& step) const { return std::sqrt(std::max(0.0, step.dot(best_.information * step))); }

  // Rivals that only the coarse level has, which may be dear to extrapolate, by the next one. The best is then the best
  // there.
  void leave_behind(const ExactSteps& steps) {
    if (rivals_.empty()) return;
    std::vector<ExactRequest> requests{{best_.theta}};
    for (const ExactMaximum& m : rivals_) requests.push_back({m.theta});
    for (ExactRequest& r : requests) r.most_iterations = kFewIterations;
    std::vector<ExactMaximum> found = tasks_.maximise("rival", steps, requests);
    std::erase_if(found, [](const ExactMaximum& m) { return !m.found(); });
    if (found.empty()) return;
    std::ranges::stable_sort(found, [](const ExactMaximum& a, const ExactMaximum& b) { return a.loglik > b.loglik; });
    best_ = found[0];
    rivals_.clear();
    for (const ExactMaximum& m : found)
      if (m.loglik > best_.loglik - kRival && distance(m.theta) > kElsewhere && !among_rivals(m)) rivals_.push_back(m);
  }

  // By a step that is so short that the parabola tells what is there; false where a bound is in the way.
  bool move(const VectorXd& step, const ExactValue& there, const ExactSteps& steps) {
    ExactMaximum moved = best_;
    for (std::size_t p = 0; p < moved.theta.size(); ++p) {
      moved.theta[p] += step[static_cast<Index>(p)];
      if (!engine_.parameters()[p].admits(moved.theta[p]) && moved.theta[p] != best_.theta[p]) return false;
    }
    moved.loglik = there.loglik + there.gradient.dot(step) / 2;
    moved.information = there.information;
    moved.gradient = there.gradient - there.information * step;
    best_ = std::move(moved);
    levels_ = there.levels;
    steps_ = steps;
    return true;
  }

  // The maximum from the best so far, and from its rivals, which other steps may prefer.
  void climb(const ExactSteps& steps) {
    tell(fmt::format("{}, {}", engine_.name(), steps.text()));
    std::vector<ExactRequest> requests{{best_.theta, {}, tolerance()}};
    for (const ExactMaximum& m : rivals_) requests.push_back({m.theta, {}, tolerance()});
    std::vector<ExactMaximum> found = tasks_.maximise("maximum", steps, requests);
    std::erase_if(found, [](const ExactMaximum& m) { return !m.found(); });
    if (found.empty()) {
      findings_.push_back({Finding::Code::not_extrapolated, {{"level", steps_.level}}});
      best_.converged = false;
      return;
    }
    std::ranges::stable_sort(found, [](const ExactMaximum& a, const ExactMaximum& b) { return a.loglik > b.loglik; });
    best_ = found[0];
    steps_ = {best_.level, steps.scheme, steps.extrapolated};
    top_of_steps_ = best_.loglik;
    rivals_.clear();
    for (const ExactMaximum& m : found)
      if (m.converged && m.loglik > best_.loglik - kRival && distance(m.theta) > kElsewhere && !among_rivals(m))
        rivals_.push_back(m);
    held_ = best_.at_bound;
    levels_.clear();
    const std::size_t levels = steps.extrapolated ? extrapolation_weights(steps.scheme).size() : 0;
    for (std::size_t l = 0; l < levels; ++l) levels_.push_back(steps_.level + static_cast<int>(l));
  }

  bool among_rivals(const ExactMaximum& m) const {
    return std::ranges::any_of(rivals_,
                               [&](const ExactMaximum& known) { return std::abs(known.loglik - m.loglik) < 1e-3; });
  }

  // The rivals that are left.
  void report_maxima(FitResult& out) {
    out.maxima.push_back({best_.theta, best_.loglik});
    for (const ExactMaximum& m : rivals_) {
      const double loglik = best_.loglik + m.loglik - top_of_steps_;
      if (loglik < best_.loglik - kComparable || distance(m.theta) < kElsewhere) continue;
      out.maxima.push_back({m.theta, loglik});
      out.findings.push_back(
          {Finding::Code::another_maximum, {{"place", to_text(model().parameters(), m.theta)}, {"loglik", loglik}}});
    }
  }

  // An interval that does not hold its estimate is none.
  void check_intervals(FitResult& out) const {
    for (std::size_t p = 0; p < out.value.size(); ++p) {
      const Interval& i = out.intervals[p];
      if (i.lower.value_or(out.value[p]) <= out.value[p] && i.upper.value_or(out.value[p]) >= out.value[p]) continue;
      out.findings.push_back({Finding::Code::no_interval, {{"parameter", model().parameters()[p].name}}});
      out.intervals[p] = {};
      out.converged = false;
    }
  }

  // Whether the fitted model predicts the data.
  void check_fit(FitResult& out) {
    AverageOptions options{.seed = given_.seed, .group = "quadrature prediction"};
    ExactSteps finest = steps_;
    if (finest.extrapolated)  // whose predictions are those of its finest level
      finest = {finest.level + static_cast<int>(extrapolation_weights(finest.scheme).size()) - 1, finest.scheme};
    options.request = tasks_.at(finest);
    options.request.predictions = true;
    try {
      check_predictions(bench_.problem.data(),
                        average_likelihood(engine_, best_.theta, options, bench_.runner).prediction_errors,
                        out.findings);
    } catch (const NumericalError& e) {
      out.findings.push_back({Finding::Code::predictions_unchecked, {{"problem", e.what()}}});
    }
  }

  double distance(const std::vector<double>& theta) const {
    const VectorXd away = Eigen::Map<const VectorXd>(theta.data(), static_cast<Index>(theta.size())) -
                          Eigen::Map<const VectorXd>(best_.theta.data(), static_cast<Index>(theta.size()));
    return std::sqrt(std::max(0.0, away.dot(best_.information * away)));
  }

  Workbench& bench_;
  const Engine& engine_;
  const FitPlan& given_;
  ExactTasks tasks_;
  std::vector<ExactMaximum> rivals_;  // of the best, by the last steps
  double top_of_steps_ = 0;           // the best by them
  ExactMaximum best_;
  std::vector<std::size_t> held_;  // at their bounds
  ExactSteps coarse_, steps_;      // of the search, and those that were climbed with
  std::vector<int> levels_;        // that were extrapolated
  double expected_ = 0;
  Findings findings_;
};
}  // namespace

std::optional<FitResult> fit_exactly(Workbench& bench, const Engine& engine, const FitPlan& given) {
  const bool asked = given.engine != "auto";
  ExactFit fit(bench, engine, given);
  const auto work = fit.expected_work();
  if (!asked && (!work || *work > kBearable)) {
    bench.observer.message(fmt::format("{} {}", engine.name(), work ? "would cost too much" : "has no value here"));
    return {};
  }
  auto out = fit.run();
  if (!out && asked) throw NumericalError(fit.problem());
  return out;
}
}  // namespace mckean
