#include "infer/exact_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/profile.hpp"
#include "infer/profile_end.hpp"
#include "infer/search/intervals.hpp"
#include "model/symmetric.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kOneSided = 2.705543454095404 / 2;  // fall at the end of a one-sided interval
constexpr double kParabola = 3;                      // times the half-width that a standard error may suggest
constexpr int kFinest = 8;                           // level
constexpr double kTolerance = 1e-3;                  // of a maximum on another level, in standard errors
constexpr double kNormal95 = 1.959963984540054;

// The covariance of the parameters that are not held; none where the information is not positive definite.
std::optional<MatrixXd> covariance_of(const ExactMaximum& best, const std::vector<std::size_t>& held) {
  const MatrixXd& information = best.information;
  std::vector<Index> free;
  for (Index i = 0; i < information.rows(); ++i)
    if (std::ranges::find(held, static_cast<std::size_t>(i)) == held.end()) free.push_back(i);
  MatrixXd out = MatrixXd::Zero(information.rows(), information.rows());
  if (free.empty()) return out;
  const auto part = inverse_if_positive(information(free, free));
  if (!part) return {};
  out(free, free) = *part;
  return out;
}

// An end of an interval; none where the profile does not fall far enough.
struct FoundEnd {
  std::optional<double> value = {};
  double work = 0;
  bool given_up = false;  // there may be one
};
constexpr auto record_of(const FoundEnd*) {
  return record("end of an interval", &FoundEnd::value, &FoundEnd::work, &FoundEnd::given_up);
}

class Intervals {
 public:
  Intervals(Workbench& bench, ExactTasks& tasks, const ExactTop& top, FitResult& out)
      : bench_(bench), tasks_(tasks), top_(top), out_(out), covariance_(covariance_of(top.best, top.held)) {}

  void run() {
    out_.intervals.resize(out_.value.size());
    if (covariance_)
      for (const auto& row : covariance_->rowwise()) out_.covariance.emplace_back(row.begin(), row.end());
    find_ends();
    for (std::size_t p = 0; p < out_.value.size(); ++p)
      if (held(p))
        tell_bound(p);
      else
        tell_free(p);
  }

 private:
  bool held(std::size_t p) const { return std::ranges::find(top_.held, p) != top_.held.end(); }
  const Parameter& parameter(std::size_t p) const { return bench_.model().parameters()[p]; }
  bool at_lower(std::size_t p) const {
    return std::abs(top_.best.theta[p] - parameter(p).lower) < std::abs(top_.best.theta[p] - parameter(p).upper);
  }
  double std_error(std::size_t p) const {
    const auto i = static_cast<Index>(p);
    return std::sqrt((*covariance_)(i, i));
  }
  // A distance that is not far.
  double modest(std::size_t p) const {
    const double size = std::max(std::abs(top_.best.theta[p]), std::abs(parameter(p).start));
    return size > 0 ? size : 0.5;
  }

  // Where the parabola at a bound has fallen far enough.
  double from_bound(std::size_t p) const {
    const auto i = static_cast<Index>(p);
    const double slope = std::abs(top_.best.gradient(i));
    const double bend = std::max(0.0, ridge(top_.best.information, i).dot(top_.best.information.col(i)));
    const double out = 2 * kOneSided / (slope + std::sqrt(slope * slope + 2 * kOneSided * bend));
    return std::isfinite(out) && out > 0 ? out : modest(p);
  }

  // One task for each end.
  struct End {
    std::size_t parameter;
    bool upper;
  };
  FoundEnd find(const End& e, const std::stop_token& stop) const {
    for (ExactSteps steps = top_.steps;; steps = steps.finer()) {
      try {
        if (steps.level == top_.steps.level) return find(e, steps, top_.best, stop);
        const auto top =
            maximise(tasks_.engine(), top_.best.theta, {.request = tasks_.at(steps, stop), .tolerance = kTolerance});
        if (!top) return {};
        return find(e, steps, described(top), stop);
      } catch (const LevelTooCoarse&) {
        if (steps.extrapolated || steps.level >= kFinest) return {.given_up = true};
      }
    }
  }

  ProfileEnd search(const End& e, const ExactSteps& steps, const ExactMaximum& top, const std::stop_token& stop) const {
    return {tasks_.engine(),
            tasks_.at(steps, stop),
            tasks_.at(steps.finer(), stop),
            tasks_.finest(steps),
            {top, e.parameter, e.upper ? 1 : -1}};
  }
  double fall(const End& e) const { return held(e.parameter) ? kOneSided : kFallOfInterval; }
  double guess(std::size_t p) const {
    if (held(p)) return from_bound(p);
    return covariance_ ? std::min(kNormal95 * std_error(p), modest(p)) : modest(p);
  }

  ExactSteps longest() const { return {top_.steps.level, top_.steps.scheme}; }

  // By the longest of the steps alone, which lead to where the end is near; none where they do not.
  std::optional<VectorXd> roughly(const End& e, const std::stop_token& stop, double& work) const {
    if (!coarse_) return {};
    ProfileEnd end = search(e, longest(), *coarse_, stop);
    const auto found = end.find_directly(fall(e), guess(e.parameter));
    work += end.work();
    if (!found || !parameter(e.parameter).contains(*found)) return {};
    return VectorXd::Map(top_.best.theta.data(), static_cast<Index>(top_.best.theta.size())) + end.way();
  }

  FoundEnd find(const End& e, const ExactSteps& steps, const ExactMaximum& top, const std::stop_token& stop) const {
    const std::size_t p = e.parameter;
    ProfileEnd end = search(e, steps, top, stop);
    std::optional<double> out;
    double work = 0;
    try {
      if (const auto near = roughly(e, stop, work)) out = end.find_near(fall(e), *near);
      if (!out) out = end.find(fall(e), guess(p));
    } catch (const EndTooFar&) {
      return {{}, end.work() + work, true};
    }
    // With these steps the maximum may be a little elsewhere.
    if (out && parameter(p).contains(*out)) {
      const double moved = *out + top_.best.theta[p] - top.theta[p];
      out = std::clamp(moved, parameter(p).lower, parameter(p).upper);
    }
    return {out, end.work() + work};
  }

  // The maximum by the longest of the steps alone, where several are extrapolated.
  void find_coarse_top() {
    if (!top_.steps.extrapolated) return;
    const ExactRequest from{top_.best.theta, top_.held};
    const ExactMaximum top = tasks_.maximise("interval", longest(), std::span(&from, 1))[0];
    if (top.found() && top.converged && top.at_bound.empty()) coarse_ = top;
  }

  void find_ends() {
    find_coarse_top();
    std::vector<End> ends;
    for (std::size_t p = 0; p < out_.value.size(); ++p)
      for (const bool upper : {false, true})
        if (!held(p) || upper == at_lower(p)) ends.push_back({p, upper});
    std::vector<Task> tasks;
    for (std::uint32_t i = 0; i < ends.size(); ++i) tasks.push_back({named_at("quadrature end", top_.best.theta), i});
    tasks_.check_time();
    const auto results = run_records(bench_.runner, tasks,
                                     [&](std::size_t i, const std::stop_token& stop) { return find(ends[i], stop); });
    for (std::size_t i = 0; i < ends.size(); ++i) {
      bench_.particle_steps += static_cast<std::uint64_t>(results[i].work);
      Interval& interval = out_.intervals[ends[i].parameter];
      (ends[i].upper ? interval.upper : interval.lower) = results[i].value;
      if (results[i].given_up)
        out_.findings.push_back(
            {Finding::Code::end_not_found,
             {{"parameter", parameter(ends[i].parameter).name}, {"side", ends[i].upper ? "upper" : "lower"}}}),
            given_up_.push_back(ends[i]);
    }
  }

  void tell_bound(std::size_t p) {
    const bool low = at_lower(p);
    Interval& interval = out_.intervals[p];
    const auto end = low ? interval.upper : interval.lower;
    interval.at_bound = low ? AtBound::lower : AtBound::upper;
    out_.value[p] = low ? parameter(p).lower : parameter(p).upper;
    (low ? interval.lower : interval.upper) = out_.value[p];
    out_.findings.push_back(search::found_at_bound(parameter(p).name, out_.value[p], low, end));
  }

  void tell_free(std::size_t p) {
    Interval& interval = out_.intervals[p];
    if (interval.lower && interval.upper) {
      const bool bounds = *interval.lower == parameter(p).lower && *interval.upper == parameter(p).upper;
      if (bounds) return;  // the data say nothing of it
      // Where the parabola says nothing of the interval, its half-width does.
      const double half = (*interval.upper - *interval.lower) / (2 * kNormal95);
      interval.std_error = covariance_ && std_error(p) < kParabola * half ? std_error(p) : half;
      return;
    }
    if (!covariance_) return;   // the flat direction has been named
    Interval known = interval;  // or given up
    for (const End& e : given_up_)
      if (e.parameter == p) (e.upper ? known.upper : known.lower) = top_.best.theta[p];
    if (!known.lower || !known.upper) out_.findings.push_back(search::undetermined(parameter(p).name, known));
  }

  Workbench& bench_;
  ExactTasks& tasks_;
  const ExactTop& top_;
  FitResult& out_;
  std::optional<MatrixXd> covariance_;
  std::optional<ExactMaximum> coarse_;
  std::vector<End> given_up_;
};
}  // namespace

void exact_intervals(Workbench& bench, ExactTasks& tasks, const ExactTop& top, FitResult& out) {
  Intervals(bench, tasks, top, out).run();
}
}  // namespace mckean
