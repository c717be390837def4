#include "infer/maximise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/extrapolation.hpp"
#include "infer/quadratic_model.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kLeastTemper = 1e-5;
constexpr int kTemperedSteps = 20;
constexpr double kLargestReach = 8, kLeastReach = 1e-12;  // of a step, in sizes of the parameters
constexpr double kAtLeast = 0.1;                          // share of a start's size that a parameter always has
constexpr int kMostRefusals = 4;     // shrunken boxes after which steps of Euler that are too long are in the way
constexpr int kMostHindered = 4;     // steps that had to be shortened for that, when levels are extrapolated
constexpr double kLittleLeft = 0.2;  // length of the step that is left, in standard errors, where no finer level helps
constexpr double kHardlyMore = 3;    // the same where one does, in units of what is asked for
constexpr int kMostEscapes = 4;      // from saddles
constexpr double kFarApart = 50, kApartOfGain = 0.02;  // times as far as asked for levels may be apart on the way, up
                                                       // to this share of what is still to be gained
constexpr double kCostOfLevel = 2.83;                  // of a finer level, by the cost of one
constexpr double kTouches = 1e-4;  // share of a start's size within which a bound without likelihood counts as reached

struct Point {
  VectorXd theta;
  double loglik = 0;
  VectorXd gradient;
  MatrixXd information;
};

class Newton {
 public:
  Newton(const Engine& engine, const std::vector<double>& start, const MaximiseOptions& options)
      : engine_(engine),
        options_(options),
        start_(start),
        held_(start.size(), false),
        open_lower_(start.size(), false),
        open_upper_(start.size(), false) {
    for (const std::size_t p : options.held) held_[p] = true;
    check_start();
  }

  // The highest point so far.
  std::optional<std::vector<double>> reached() const {
    if (here_.theta.size() == 0) return {};
    return std::vector<double>(here_.theta.begin(), here_.theta.end());
  }
  double work() const { return best_.work; }

  // From a start that the observations contradict, first to the maximum of a tempered likelihood, and on from there
  // unless the start itself is higher.
  Result<Maximum> run() {
    const VectorXd start = VectorXd::Map(start_.data(), static_cast<Index>(start_.size()));
    VectorXd theta = start;
    while (temper_ > kLeastTemper && !begins_plausibly(theta)) temper_ /= 4;
    const bool tempered = temper_ < 1;
    for (; temper_ < 1; temper_ *= 4) {
      if (const auto failed = begin(theta)) return *failed;
      for (int i = 0; i < kTemperedSteps && length() > 0.1; ++i, ++best_.iterations)
        if (!climb()) break;
      theta = here_.theta;
    }
    best_.message.clear();
    if (const auto failed = tempered ? begin_at_higher(theta, start) : begin(theta)) return *failed;
    while (!finished() && climb()) ++best_.iterations;
    if (pinned_ && !nearly_there()) return *pinned_;
    describe();
    return best_;
  }

 private:
  const Parameter& parameter(Index i) const { return engine_.parameters()[static_cast<std::size_t>(i)]; }
  Index size() const { return static_cast<Index>(start_.size()); }

  void check_start() const {
    for (std::size_t p = 0; p < start_.size(); ++p) {
      const Parameter& parameter = engine_.parameters()[p];
      if (!parameter.admits(start_[p]))
        throw InputError(fmt::format("the start of '{}' is {}, which is not between its bounds {} and {}",
                                     parameter.name, start_[p], parameter.lower, parameter.upper));
    }
  }

  Request request() const {
    Request out = options_.request;
    out.effort.temper *= temper_;
    out.most_apart *= kFarApart;
    return out;
  }

  // Whether the observations do not contradict the start; where there is a likelihood, it is where to begin.
  bool begins_plausibly(const VectorXd& theta) {
    Request r = request();
    r.accepts_implausible = false;
    const auto at = evaluate(theta, r);
    if (at) begin(*at);
    return at || at.failure().code != Failure::Code::implausible;
  }

  std::optional<Failure> begin(const VectorXd& theta) {
    if (begun_with_ == temper_ && theta == here_.theta) return {};
    const auto at = evaluate(theta);
    if (!at) return at.failure();
    begin(*at);
    return {};
  }
  std::optional<Failure> begin_at_higher(const VectorXd& a, const VectorXd& b) {
    const auto at_a = evaluate(a), at_b = evaluate(b);
    if (!at_a && !at_b) return at_a.failure();
    begin(!at_a || (at_b && at_b->loglik > at_a->loglik) ? *at_b : *at_a);
    return {};
  }
  void begin(const Point& at) {
    here_ = at;
    reach_ = 1;
    begun_with_ = temper_;
    pinned_.reset(), hindered_ = 0;
  }

  Result<Point> evaluate(const VectorXd& theta) { return evaluate(theta, request()); }
  Result<Point> evaluate(const VectorXd& theta, const Request& with) {
    const Outcome at = engine_.at({theta.data(), start_.size()}, Order::information, {}, with);
    best_.work += at ? at->work : at.failure().work;
    if (!at) return at.failure();
    Point out{theta, at->loglik, VectorXd::Map(at->gradient.data(), size()),
              MatrixXd::Map(at->information.data(), size(), size())};
    if (!std::isfinite(out.loglik) || !out.gradient.allFinite() || !out.information.allFinite())
      return Failure{Failure::Code::undefined, "the likelihood has no finite derivatives here"};
    if (at->apart > options_.request.most_apart + kApartOfGain * to_gain(out)) return too_far_apart(at->apart);
    return out;
  }

  // What the parabola promises, as far as the bounds.
  double to_gain(const Point& at) const {
    StepBox within{VectorXd::Zero(size()), VectorXd::Zero(size())};
    for (Index i = 0; i < size(); ++i) {
      if (held_[static_cast<std::size_t>(i)]) continue;
      const double most = std::abs(at.theta(i)) + std::abs(parameter(i).start) + 1;
      within.lower(i) = std::max(parameter(i).lower - at.theta(i), -most);
      within.upper(i) = std::min(parameter(i).upper - at.theta(i), most);
    }
    const QuadraticModel model(at.gradient, at.information);
    return std::max(0.0, model.gain(model.step(within)));
  }

  // How far a parameter may be expected to move: its distance from a bound, or its own size.
  double extent(Index i) const {
    const Parameter& p = parameter(i);
    const bool below = std::isfinite(p.lower), above = std::isfinite(p.upper);
    const double origin = below ? p.lower : above ? p.upper : 0;
    const double begun = std::max(std::abs(start_[static_cast<std::size_t>(i)] - origin), std::abs(p.start - origin));
    double out = std::max(std::abs(here_.theta(i) - origin), kAtLeast * begun);
    if (below && above) out = std::min(std::max(out, kAtLeast * (p.upper - p.lower)), (p.upper - p.lower) / 4);
    const double information = here_.information(i, i);
    if (out == 0) out = information > 0 ? 1 / std::sqrt(information) : 1;
    return out;
  }

  // Steps that stay within the bounds, and within so many extents.
  StepBox box(double reach) const {
    StepBox out{VectorXd::Zero(size()), VectorXd::Zero(size())};
    for (Index i = 0; i < size(); ++i) {
      const auto p = static_cast<std::size_t>(i);
      if (held_[p]) continue;
      const double most = reach * extent(i);
      out.lower(i) = std::max(lower(i) - here_.theta(i), -most),
      out.upper(i) = std::min(upper(i) - here_.theta(i), most);
    }
    return out;
  }

  // Of a bound at which there is no likelihood only the neighbourhood is reached.
  double lower(Index i) const {
    const Parameter& p = parameter(i);
    if (!open_lower_[static_cast<std::size_t>(i)]) return p.lower;
    return touches(i, p.lower) ? here_.theta(i) : p.lower + 0.1 * (here_.theta(i) - p.lower);
  }
  double upper(Index i) const {
    const Parameter& p = parameter(i);
    if (!open_upper_[static_cast<std::size_t>(i)]) return p.upper;
    return touches(i, p.upper) ? here_.theta(i) : p.upper - 0.1 * (p.upper - here_.theta(i));
  }
  bool touches(Index i, double bound) const {
    return std::abs(here_.theta(i) - bound) <= kTouches * std::abs(parameter(i).start - bound);
  }

  VectorXd step(double reach) const { return QuadraticModel(here_.gradient, here_.information).step(box(reach)); }

  // What the parabola still promises, as the length of a step in standard errors.
  double length() const {
    const QuadraticModel model(here_.gradient, here_.information);
    return std::sqrt(2 * std::max(0.0, model.gain(model.step(box(1 / kLeastReach)))));
  }

  bool on_bound(Index i) const {
    const Parameter& p = parameter(i);
    const auto k = static_cast<std::size_t>(i);
    const double slope = here_.gradient(i), theta = here_.theta(i);
    return (slope <= 0 && (theta == p.lower || (open_lower_[k] && touches(i, p.lower)))) ||
           (slope >= 0 && (theta == p.upper || (open_upper_[k] && touches(i, p.upper))));
  }
  std::vector<Index> free() const {
    std::vector<Index> out;
    for (Index i = 0; i < size(); ++i)
      if (!held_[static_cast<std::size_t>(i)] && !on_bound(i)) out.push_back(i);
    return out;
  }

  bool finished() {
    const double left = length();
    if (left < options_.tolerance) {
      const Curvature curvature(here_.information, free());
      if (curvature.concave()) return best_.converged = true;
      best_.flat = curvature.singular();
      if (best_.flat)
        return stop("the information is singular: the likelihood does not change along " +
                    direction(curvature.weakest()));
      if (escape(curvature.weakest())) return false;
      return stop("the likelihood has a saddle here: it grows in both directions along " +
                  direction(curvature.weakest()) + "; start elsewhere");
    }
    if (too_much_work())
      return stop(
          fmt::format("no convergence within the limit of work: the last step is {:.2g} standard errors long", left));
    if (best_.iterations < options_.most_iterations) return false;
    return stop(fmt::format("no convergence after {} iterations: the last step is {:.2g} standard errors long",
                            best_.iterations, left));
  }

  bool too_much_work() const { return options_.most_work > 0 && best_.work > options_.most_work; }

  bool stop(std::string message) {
    best_.message = std::move(message);
    return true;
  }

  // A step in the box, which shrinks until the likelihood grows by a part of what the parabola promises, up to
  // rounding.
  bool climb() {
    const QuadraticModel model(here_.gradient, here_.information);
    const double noise = options_.request.error + 1e-11 * (1 + std::abs(here_.loglik));
    std::optional<Failure> in_the_way;  // steps of time that are too long for an extrapolation
    for (int tries = 0; reach_ > kLeastReach && !too_much_work(); ++tries) {
      const VectorXd s = step(reach_);
      const double promised = model.gain(s), used = reach_used(s);
      const auto there = evaluate(landing(s));
      if (!there && there.failure().code == Failure::Code::too_coarse) {
        in_the_way = there.failure();
        if (tries >= kMostRefusals) break;
      }
      if (!there) note_open_bounds(s);
      if (there && there->loglik >= here_.loglik + 1e-4 * promised - noise) {
        const double kept = promised > 0 ? (there->loglik - here_.loglik) / promised : 1;
        if (kept > 0.75 && used > 0.9 * reach_) reach_ = std::min(2 * reach_, kLargestReach);
        if (kept < 0.25) reach_ = used / 2;
        here_ = *there;
        if (!in_the_way || !options_.request.effort.extrapolated || ++hindered_ < kMostHindered) return true;
        pinned_ = in_the_way;
        return false;
      }
      if (promised < noise) break;  // not to be told from the error of the likelihood
      reach_ = std::min(reach_, used) / 4;
    }
    if (in_the_way)
      pinned_ = in_the_way;
    else if (!too_much_work())
      stop("no step increases the likelihood: it is not smooth here, or its derivatives are not accurate");
    return false;
  }

  // Exactly on a bound where the step ends there.
  VectorXd landing(const VectorXd& s) const {
    VectorXd out = here_.theta + s;
    for (Index i = 0; i < size(); ++i) out(i) = std::clamp(out(i), lower(i), upper(i));
    return out;
  }

  double reach_used(const VectorXd& s) const {
    double out = 0;
    for (Index i = 0; i < size(); ++i) out = std::max(out, std::abs(s(i)) / extent(i));
    return out;
  }

  void note_open_bounds(const VectorXd& s) {
    const VectorXd there = landing(s);
    for (Index i = 0; i < size(); ++i) {
      const auto p = static_cast<std::size_t>(i);
      if (there(i) == parameter(i).lower && here_.theta(i) > parameter(i).lower) open_lower_[p] = true;
      if (there(i) == parameter(i).upper && here_.theta(i) < parameter(i).upper) open_upper_[p] = true;
    }
  }

  // Along a direction in which the likelihood grows either way, as far as half the extents.
  bool escape(const VectorXd& along) {
    if (++escapes_ > kMostEscapes) return false;
    const double most = 0.5 / std::max(reach_used(along), 1e-300);
    for (double length = most; length > 1e-3 * most; length /= 4)
      for (const double sign : {1.0, -1.0}) {
        const auto there = evaluate(landing(sign * length * along));
        if (!there || there->loglik <= here_.loglik + 1e-9 * (1 + std::abs(here_.loglik))) continue;
        here_ = *there, reach_ = 1;
        return true;
      }
    return false;
  }

  void describe() {
    best_.theta.assign(here_.theta.begin(), here_.theta.end());
    best_.loglik = here_.loglik, best_.gradient = here_.gradient, best_.information = here_.information;
    for (Index i = 0; i < size(); ++i)
      if (!held_[static_cast<std::size_t>(i)] && on_bound(i)) best_.at_bound.push_back(static_cast<std::size_t>(i));
  }

  bool nearly_there() {
    const bool finer = finer_may_help(options_.request, *pinned_, options_.finest);
    if (!(length() < (finer ? kHardlyMore * options_.tolerance : kLittleLeft))) return false;
    return stop(pinned_->message);
  }

  std::string direction(const VectorXd& v) const {
    std::string text;
    for (Index i = 0; i < v.size(); ++i)
      text += fmt::format("{}{} {:.3g}", i ? ", " : "(", parameter(i).name, v(i) / v.norm());
    return text + ")";
  }

  const Engine& engine_;
  MaximiseOptions options_;
  std::vector<double> start_;
  std::vector<bool> held_, open_lower_, open_upper_;  // bounds at which there is no likelihood
  double temper_ = 1, reach_ = 1;
  double begun_with_ = 0;  // the temper of the last beginning
  int escapes_ = 0;
  int hindered_ = 0;  // steps that were shortened because steps of time are too long further on
  Point here_;
  Maximum best_;
  std::optional<Failure> pinned_;  // why no step leads on: this level has no likelihood there
};
}  // namespace

Request at_level(Request request, int level) {
  request.most_work *= std::pow(kCostOfLevel, level - request.effort.level);
  request.effort.level = level;
  return request;
}

bool finer_may_help(const Request& request, const Failure& why, int finest) {
  return request.effort.extrapolated && why.code == Failure::Code::too_coarse && request.effort.level < finest;
}

Result<Maximum> maximise(const Engine& engine, const std::vector<double>& start, const MaximiseOptions& options,
                         double* spent) {
  MaximiseOptions at = options;
  std::vector<double> from = start;
  for (double work = 0;;) {
    Newton newton(engine, from, at);
    Result<Maximum> found = newton.run();
    work += newton.work();
    if (spent) *spent += newton.work();
    if (found) {
      Maximum out = *found;
      out.work = work, out.level = at.request.effort.level;
      return out;
    }
    const bool spent_all = options.most_work > 0 && work > options.most_work;
    if (spent_all || !finer_may_help(at.request, found.failure(), options.finest)) return found;
    at.request = at_level(at.request, at.request.effort.level + 1);
    if (at.most_work > 0) at.most_work = std::max(options.most_work - work, 1.0);
    from = newton.reached().value_or(from);
  }
}
}  // namespace mckean
