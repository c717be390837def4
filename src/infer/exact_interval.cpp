#include "infer/exact_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "infer/profile.hpp"
#include "infer/search/intervals.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kOneSided = 2.705543454095404 / 2;  // fall at the end of a one-sided interval
constexpr double kClose = 0.25;                      // share by which the fall at the end of a parabola may be off
constexpr double kParabola = 3;                      // times the half-width that a standard error may suggest
constexpr double kFarthest = 1e3;                    // how far an end is sought, in units of the estimate and its start
constexpr int kMostDoublings = 24, kMostHalvings = 30, kMostIterations = 40;
constexpr double kTolerance = 0.05;  // of a maximum over the others, in standard errors: half its square in log units
constexpr double kEndError = 5e-3;   // of the fall at an end, as a share
constexpr double kNormal95 = 1.959963984540054;
constexpr int kFinest = 8;         // level
constexpr double kMovesOut = 0.6;  // share of the fall that is left with steps half as long

// Euler's steps are too long somewhere on the way to an end, so that there is no likelihood where the diffusion has
// one.
struct LevelTooCoarse {};

// The profile log-likelihood of one parameter to one side of the maximum, at values further and further out.
class Side {
 public:
  struct Start {
    const ExactMaximum& top;        // on this level
    std::vector<std::size_t> held;  // at their bounds
    std::size_t parameter;
    int sign;  // in unconstrained coordinates
  };
  // The second request is one level finer.
  Side(const Engine& engine, Request at, Request finer, Start start)
      : engine_(engine),
        at_(std::move(at)),
        finer_(std::move(finer)),
        start_(std::move(start)),
        last_(start_.top.theta) {
    if (std::ranges::find(start_.held, start_.parameter) == start_.held.end()) start_.held.push_back(start_.parameter);
    u_ = parameter().unconstrained(start_.top.theta[start_.parameter]);
  }

  // Where it has fallen by so much, from a first guess of the distance in unconstrained coordinates; none where it does
  // not.
  std::optional<double> end(double by, double guess) {
    const double most = kFarthest * (std::abs(value(0)) + std::abs(parameter().start) + 1);
    double inner = 0, outer = guess, below = 0, above = 0;
    for (int i = 0;; ++i) {
      if (i == kMostDoublings || std::abs(value(outer)) > most || !parameter().contains(value(outer)) ||
          value(outer) == value(inner))
        return {};
      above = fall(outer);
      if (above >= by) break;
      inner = outer, below = above, outer *= 2;
    }
    // √fall is nearly linear.
    for (int i = 0; i < kMostHalvings && outer - inner > kEndError / 2 * outer && std::abs(above / by - 1) > kEndError;
         ++i) {
      const double secant = (std::sqrt(by) - std::sqrt(below)) / (std::sqrt(above) - std::sqrt(below));
      const double share = std::isfinite(above) && i % 3 != 2 ? std::clamp(secant, 0.05, 0.95) : 0.5;
      const double middle = inner + share * (outer - inner), at = fall(middle);
      if (at >= by)
        outer = middle, above = at;
      else
        inner = middle, below = at;
    }
    if (outer > 2 * guess && moves_out(outer, by)) return {};
    return value(outer);
  }

  // How far the profile has fallen at a distance in unconstrained coordinates; infinite where there is no likelihood.
  double fall(double distance) {
    const auto known = falls_.find(distance);
    if (known != falls_.end()) return known->second;
    return falls_[distance] = fall(at_, distance, start_.top.loglik, last_);
  }

  // A distance in unconstrained coordinates that is not far: the size of the parameter, a factor of e above a bound.
  double modest() const {
    const Parameter& p = parameter();
    const bool bounded = std::isfinite(p.lower) || std::isfinite(p.upper);
    return bounded ? 1 : std::max(std::abs(value(0)), p.start == 0 ? 0.5 : std::abs(p.start));
  }

  double work() const { return work_; }

 private:
  const Parameter& parameter() const { return engine_.parameters()[start_.parameter]; }
  double value(double distance) const { return parameter().natural(u_ + start_.sign * distance); }

  double fall(const Request& request, double distance, double top, std::vector<double>& from) {
    std::vector<double> start = from;
    // The others move in proportion, nearly.
    for (std::size_t q = 0; q < start.size() && last_distance_ > 0; ++q) {
      if (std::ranges::find(start_.held, q) != start_.held.end()) continue;
      const Parameter& other = engine_.parameters()[q];
      const double u = other.unconstrained(start_.top.theta[q]), moved = other.unconstrained(from[q]) - u;
      const double there = other.natural(u + moved * std::min(2.0, distance / last_distance_));
      if (std::isfinite(there) && other.contains(there)) start[q] = there;
    }
    start[start_.parameter] = value(distance);
    const auto at = maximise(
        engine_, start,
        {.request = request, .most_iterations = kMostIterations, .tolerance = kTolerance, .held = start_.held});
    if (!at && at.failure().code == Failure::Code::too_coarse) throw LevelTooCoarse{};
    if (!at) return std::numeric_limits<double>::infinity();
    work_ += at->work;
    from = at->theta;
    if (&from == &last_) last_distance_ = distance;
    return std::max(0.0, top - at->loglik);
  }

  // An end that is Euler's: with steps half as long the likelihood has hardly fallen there.
  bool moves_out(double distance, double by) {
    if (at_.effort.level == kContinuous) return false;
    const auto top = maximise(engine_, start_.top.theta, {.request = finer_, .tolerance = kTolerance});
    if (!top) return false;
    work_ += top->work;
    std::vector<double> from = last_;
    return fall(finer_, distance, top->loglik, from) < kMovesOut * by;
  }

  const Engine& engine_;
  Request at_, finer_;
  Start start_;
  double u_;
  std::vector<double> last_;  // the maximum over the others where it was last sought
  double last_distance_ = 0;
  std::map<double, double> falls_;
  double work_ = 0;
};

// The covariance in unconstrained coordinates of the parameters that are not held; none where the information is not
// positive definite.
std::optional<MatrixXd> covariance_of(const Model& model, const ExactMaximum& best,
                                      const std::vector<std::size_t>& held) {
  const MatrixXd information = unconstrained_information(model, best.theta, best.information);
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
  std::optional<double> value;
  double work = 0;
};
constexpr auto record_of(const FoundEnd*) { return record("end of an interval", &FoundEnd::value, &FoundEnd::work); }

class Intervals {
 public:
  Intervals(Workbench& bench, ExactTasks& tasks, const ExactTop& top, FitResult& out)
      : bench_(bench),
        tasks_(tasks),
        top_(top),
        out_(out),
        covariance_(covariance_of(bench.model(), top.best, top.held)) {}

  void run() {
    const Model& model = bench_.model();
    out_.intervals.resize(out_.value.size());
    if (covariance_) {
      const VectorXd slope = slopes(model.parameters(), unconstrained(model.parameters(), top_.best.theta));
      const MatrixXd natural = slope.asDiagonal() * *covariance_ * slope.asDiagonal();
      for (const auto& row : natural.rowwise()) out_.covariance.emplace_back(row.begin(), row.end());
    }
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
  // θ grows with its coordinate in unconstrained coordinates, except below an upper bound alone.
  bool rising(std::size_t p) const { return std::isfinite(parameter(p).lower) || !std::isfinite(parameter(p).upper); }
  double spread(std::size_t p) const {
    const auto i = static_cast<Index>(p);
    return covariance_ ? std::sqrt((*covariance_)(i, i))
                       : std::max(1.0, std::abs(parameter(p).unconstrained(top_.best.theta[p])));
  }

  // One task for each end.
  struct End {
    std::size_t parameter;
    bool upper;
  };
  FoundEnd find(const End& e, const std::stop_token& stop) const {
    for (int level = top_.sketch_level;; ++level) {
      try {
        if (level == top_.sketch_level) return find(e, level, top_.sketch, stop);
        const auto top = maximise(tasks_.engine(), top_.best.theta,
                                  {.request = tasks_.at(level, stop), .tolerance = kTolerance, .held = top_.held});
        if (!top) return {};
        ExactMaximum there;
        there.theta = top->theta, there.loglik = top->loglik;
        return find(e, level, there, stop);
      } catch (const LevelTooCoarse&) {
        if (level >= kFinest) return {};
      }
    }
  }

  FoundEnd find(const End& e, int level, const ExactMaximum& top, const std::stop_token& stop) const {
    const std::size_t p = e.parameter;
    Side side(tasks_.engine(), tasks_.at(level, stop), tasks_.at(level == kContinuous ? level : level + 1, stop),
              {top, top_.held, p, e.upper == rising(p) ? 1 : -1});
    std::optional<double> out;
    const double plain = std::min(kNormal95 * spread(p), side.modest());
    if (held(p)) {
      out = side.end(kOneSided, 1);
    } else if (covariance_ && plain == kNormal95 * spread(p) &&
               std::abs(side.fall(plain) / kFallOfInterval - 1) < kClose) {
      const double u = parameter(p).unconstrained(top_.best.theta[p]);
      out = parameter(p).natural(u + (e.upper == rising(p) ? plain : -plain));
    } else {
      out = side.end(kFallOfInterval, plain);
    }
    return {out, side.work()};
  }

  void find_ends() {
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
      const double u = parameter(p).unconstrained(top_.best.theta[p]);
      // Where the parabola says nothing of the interval, its half-width does.
      const double half = (*interval.upper - *interval.lower) / (2 * kNormal95);
      const double plain = std::abs(parameter(p).slope(u)) * spread(p);
      interval.std_error = covariance_ && plain < kParabola * half ? plain : half;
      return;
    }
    if (!covariance_) return;  // the flat direction has been named
    out_.findings.push_back(search::undetermined(parameter(p).name, interval));
  }

  Workbench& bench_;
  ExactTasks& tasks_;
  const ExactTop& top_;
  FitResult& out_;
  std::optional<MatrixXd> covariance_;
};
}  // namespace

void exact_intervals(Workbench& bench, ExactTasks& tasks, const ExactTop& top, FitResult& out) {
  Intervals(bench, tasks, top, out).run();
}
}  // namespace mckean
