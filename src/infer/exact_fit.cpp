#include "infer/exact_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/checks.hpp"
#include "infer/exact_interval.hpp"
#include "infer/exact_search.hpp"
#include "infer/extrapolate.hpp"
#include "infer/richardson.hpp"
#include "infer/search/evaluation.hpp"
#include "model/symmetric.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int kCoarse = 2, kFirst = 4, kHighest = 8;  // levels: of the search, of the first refinement, at most
constexpr int kSketch = 4;                            // and of the ends of intervals
constexpr double kMoves = 0.1;                        // standard errors by which a finer level may move the maximum
constexpr double kClimbs = 0.5;                       // the same, from which on extrapolation begins at finer levels
constexpr double kMuch = 0.2;                         // the same, where finer levels cost too much
constexpr double kSketchDistance = 1;                 // standard errors
constexpr double kComparable = 3;                     // log units within which another maximum is reported
constexpr double kRival = 15;                         // and on a level, since the next one may prefer it
constexpr std::size_t kMostRivals = 5;
constexpr double kElsewhere = 3;  // standard errors from which on it is another
constexpr double kTolerance = 1e-4,
                 kExact = 1e-8;    // of the last step, in standard errors; of a level that is asked for
constexpr double kBearable = 2e9;  // moves of a point and entry of its jet, in a whole fit
constexpr double kLeastLooking = 3e6,
                 kMostLooking = 3e7;  // and in looking around on the coarse level, half of a fit or so much
constexpr double kEvaluations = 50;   // of the likelihood and its derivatives in a fit, on the coarse level, by cost

// What the value costs with all first and second derivatives, over the value alone.
double derivatives(std::size_t parameters) { return static_cast<double>((parameters + 1) * (parameters + 2)) / 2; }

struct ValueCost {
  std::optional<double> work;  // none where there is no value
  bool too_coarse = false;     // which a finer level may have
};
constexpr auto record_of(const ValueCost*) {
  return record("cost of a value", &ValueCost::work, &ValueCost::too_coarse);
}

class ExactFit {
 public:
  ExactFit(Workbench& bench, const Engine& engine, const FitPlan& given)
      : bench_(bench), engine_(engine), given_(given), tasks_(bench, engine) {}

  // Moves of a point and entry of the jet that a fit takes, by one value at the start on the coarsest level that has
  // one; none where there is no value.
  std::optional<double> expected_work() {
    if (engine_.continuous() && !given_.quadrature_level) {
      coarse_ = kContinuous;
      return expected_work_here();
    }
    int last = given_.quadrature_level.value_or(kFirst);
    for (coarse_ = std::min(kCoarse, last); coarse_ <= last; ++coarse_) {
      if (const auto work = expected_work_here()) return work;
      if (too_coarse_ && !given_.quadrature_level) last = kHighest - kRichardsonLevels;
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
      to_continuous_time();
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
    const auto [cost, too_coarse] = cost_of_value();
    too_coarse_ = too_coarse;
    if (!cost) return {};
    tasks_.set_cost(coarse_, *cost, kBearable / (derivatives(model().parameters().size()) * 8));
    expected_ = *cost * derivatives(model().parameters().size()) * kEvaluations;
    return expected_;
  }

  void describe(FitResult& out) const {
    out.engine = engine_.name();
    out.exact = true;
    out.value = best_.theta;
    out.mc_se.assign(out.value.size(), 0);
    out.lowest = continuous_ ? lowest_ : level_, out.highest = continuous_ ? highest_ : level_;
    out.continuous = continuous_ || level_ == kContinuous;
    out.loglik = LikelihoodSummary{best_.loglik, 0.0};
    out.converged = best_.converged;
    out.findings = findings_;
    if (!best_.problem.empty()) out.findings.push_back({Finding::Code::maximum_problem, {{"problem", best_.problem}}});
    if (!best_.converged && best_.problem.empty()) out.findings.push_back({Finding::Code::not_converged});
  }

  // Intervals, and whether the fitted model predicts the data.
  void look_at_sides(FitResult& out) {
    // A coarser level may have its maximum elsewhere.
    if (distance(sketch_.theta) > kSketchDistance) sketch_ = best_, sketch_level_ = level_;
    exact_intervals(bench_, tasks_, {best_, sketch_, held_, sketch_level_}, out);
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
  ValueCost cost_of_value() {
    const Task task{fmt::format("quadrature cost level {}", coarse_), 0};
    return run_records(bench_.runner, std::span(&task, 1), [&](std::size_t, std::stop_token stop) {
      Request r = tasks_.at(coarse_, std::move(stop));
      r.accepts_implausible = false;
      for (r.effort.temper = 1; r.effort.temper > 1e-5; r.effort.temper /= 4) {
        const Outcome v = engine_.at(model().start_values(), Order::value, {}, r);
        if (v) return ValueCost{v->work};
        if (v.failure().code == Failure::Code::too_coarse) return ValueCost{{}, true};
        if (v.failure().code != Failure::Code::implausible) break;
      }
      return ValueCost{};
    })[0];
  }

  void find() {
    level_ = coarse_;
    ExactSearchOptions options{
        .level = coarse_,
        .evaluations = std::clamp(expected_ / 2, kLeastLooking, kMostLooking) * kEvaluations / expected_,
        .starts = given_.search.starts,
        .seed = given_.seed};
    ExactSearchResult found = exact_search(bench_, tasks_, options);
    while (found.too_coarse && !given_.quadrature_level && coarse_ < kHighest - kRichardsonLevels) {
      options.level = level_ = ++coarse_;
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

  // On the level that is asked for, or on finer ones until that no longer moves the maximum.
  void refine() {
    const int first = coarse_ == kContinuous ? kContinuous : std::max(kFirst, coarse_);
    climb("maximum", given_.quadrature_level.value_or(first));
    if (given_.quadrature_level || first == kContinuous) return;
    while (level_ < kHighest && best_.found()) {
      const double shift = shift_of(level_ + 1);
      if (shift <= kClimbs) return;
      const double cost = expected_ * std::exp2(1.5 * (level_ + 1 - kCoarse)) / 4;
      if (cost > kBearable && shift <= kMuch) return;
      if (cost > 4 * kBearable) {
        findings_.push_back({Finding::Code::level_matters, {{"level", level_ + 1}, {"shift", shift}}});
        return;
      }
      const ExactMaximum before = best_;
      climb("maximum", level_ + 1);
      if (!best_.found()) {
        best_ = before;
        findings_.push_back({Finding::Code::level_without_maximum, {{"level", level_}}});
        --level_;
        return;
      }
    }
  }

  void to_continuous_time() {
    top_of_level_ = best_.loglik;
    if (given_.quadrature_level || level_ == kContinuous || !best_.converged) return;
    tell(fmt::format("{}, continuous time", engine_.name()));
    const auto found =
        extrapolate(tasks_, best_, {.lowest = std::max({level_ - 2, coarse_, 0}), .highest = kHighest, .held = held_});
    if (!found) {
      findings_.push_back({Finding::Code::not_extrapolated, {{"level", level_}}});
      return;
    }
    best_ = found->maximum, lowest_ = found->lowest, highest_ = found->highest, continuous_ = true;
    if (found->doubt > kMoves)
      findings_.push_back({Finding::Code::extrapolations_differ,
                           {{"lower", lowest_ - 1}, {"upper", lowest_}, {"shift", found->doubt}}});
  }

  // The maximum of a level from the best so far, and from its rivals: a coarse level may prefer another.
  void climb(const std::string& name, int level) {
    tell(fmt::format("{}, level {}", engine_.name(), level));
    std::vector<ExactRequest> requests{{best_.theta, {}, tolerance()}};
    for (const ExactMaximum& m : rivals_) requests.push_back({m.theta, {}, tolerance()});
    std::vector<ExactMaximum> found = tasks_.maximise(name, level, requests);
    if (found[0].too_coarse && !given_.quadrature_level && level < kHighest) return climb(name, level + 1);
    std::erase_if(found, [](const ExactMaximum& m) { return !m.found(); });
    std::ranges::stable_sort(found, [](const ExactMaximum& a, const ExactMaximum& b) { return a.loglik > b.loglik; });
    level_ = level;
    best_ = found.empty() ? ExactMaximum{} : found[0];
    rivals_.clear();
    for (const ExactMaximum& m : found)
      if (m.converged && m.loglik > best_.loglik - kRival && distance(m.theta) > kElsewhere && !among_rivals(m))
        rivals_.push_back(m);
    held_ = best_.at_bound;
    if (level_ <= kSketch || !sketch_.found()) sketch_ = best_, sketch_level_ = level_;
  }

  bool among_rivals(const ExactMaximum& m) const {
    return std::ranges::any_of(rivals_,
                               [&](const ExactMaximum& known) { return std::abs(known.loglik - m.loglik) < 1e-3; });
  }

  // In standard errors: the length of Newton's step on another level.
  double shift_of(int level) {
    const ExactValue found = tasks_.evaluate("shift", {level}, best_.theta)[0];
    if (!found.found()) return 0;
    VectorXd gradient = found.gradient;
    MatrixXd information = best_.information;
    for (const std::size_t p : held_) {
      const auto i = static_cast<Index>(p);
      gradient[i] = 0, information.row(i).setZero(), information.col(i).setZero(), information(i, i) = 1;
    }
    return std::sqrt(std::max(0.0, gradient.dot(pseudo_inverse(information) * gradient)));
  }

  // The rivals that are left, of the last level.
  void report_maxima(FitResult& out) {
    out.maxima.push_back({best_.theta, best_.loglik});
    for (const ExactMaximum& m : rivals_) {
      const double loglik = best_.loglik + m.loglik - top_of_level_;
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
    options.request.effort.level = std::max(std::min(level_, kSketch), coarse_);
    options.request.accepts_implausible = true;
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
  std::vector<ExactMaximum> rivals_;  // of the best, on the last level
  double top_of_level_ = 0;           // the best there
  ExactMaximum best_;
  std::vector<std::size_t> held_;  // at their bounds
  int level_ = 0, coarse_ = kCoarse;
  bool too_coarse_ = false;  // that level, at the start
  bool continuous_ = false;  // extrapolated, from these levels
  int lowest_ = 0, highest_ = 0;
  ExactMaximum sketch_;  // the maximum of a level on which ends of intervals are cheap to find
  int sketch_level_ = kCoarse;
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
