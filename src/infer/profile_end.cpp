#include "infer/profile_end.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/symmetric.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kFarthest = 1e3;  // how far an end is sought, in units of the estimate and its start
constexpr int kMostDoublings = 24, kMostSteps = 30, kMostIterations = 40, kMostDirect = 12, kMostNear = 5;
constexpr std::size_t kLeastDoublings = 6;              // after which a profile may be seen to level off
constexpr double kLevelRatio = 0.7, kLevelShare = 0.8;  // of successive rises of the fall; of the fall asked for
// Share of the fall by which a place may be off, which the parabola there then mends.
constexpr double kFallError = 0.03;
constexpr double kTolerance = 0.1;    // of a maximum over the others, in standard errors: half its square errs the fall
constexpr double kFarFromFall = 0.1;  // share of the fall, where a jump was found in place of an end
constexpr double kOfBound = 0.6;      // share of the way to a bound that is not far, where an end is sought first
constexpr double kTrusted = 0.3;      // squared length of Newton's step of the others that tells what a profile is
constexpr double kLargestMend = 0.1;  // of an end, as a share of its distance from the maximum
constexpr double kLeastGrowth = 1.1;  // of a distance, where longer ones need steps that are not affordable
constexpr double kMostWork = 120;     // of an end, in evaluations near to the maximum
constexpr double kMovesOut = 0.6;     // share of the fall that is left with steps half as long

// Whether the falls at distances that double grow by less and less, to a limit that is not far enough.
bool levels_off(const std::vector<double>& falls, double by) {
  const std::size_t n = falls.size();
  if (n < kLeastDoublings) return false;
  const double before = falls[n - 2] - falls[n - 3], last = falls[n - 1] - falls[n - 2];
  const double ratio = before > 0 ? std::max(0.0, last / before) : 0;
  if (last > kLevelRatio * std::max(before, 0.0)) return false;
  return falls[n - 1] + std::max(last, 0.0) * ratio / (1 - ratio) < kLevelShare * by;
}
}  // namespace

VectorXd ridge(const MatrixXd& information, Index p, const std::vector<bool>& held) {
  MatrixXd others = information;
  for (Index i = 0; i < others.rows(); ++i)
    if (i == p || (!held.empty() && held[static_cast<std::size_t>(i)]))
      others.row(i).setZero(), others.col(i).setZero();
  VectorXd out = -pseudo_inverse(others) * information.col(p);
  out(p) = 1;
  return out;
}

ProfileEnd::ProfileEnd(const Engine& engine, Request at, Request finer, int finest, Side side)
    : engine_(engine), at_(std::move(at)), finer_(std::move(finer)), finest_(finest), side_(side) {
  const ExactMaximum& top = side_.top;
  walked_[0] = {VectorXd::Map(top.theta.data(), static_cast<Index>(top.theta.size())), top.loglik, top.gradient,
                top.information};
}

std::optional<double> ProfileEnd::find(double by, double guess) {
  std::optional<double> out = from_guess(by, guess);
  if (!out) out = by_walking(by, guess);
  if (out && *out > 2 * guess && *out < to_bound() && moves_out(*out, by)) return {};
  return out ? std::optional(value(*out)) : std::nullopt;
}

std::optional<double> ProfileEnd::from_guess(double by, double guess) {
  const Place& top = walked_.at(0);
  const double first = std::min(guess, kOfBound * to_bound());
  if (!(first > 0)) return {};
  return directly(by, top.theta + side_.sign * first * ridge(top.information, index()), kMostDirect);
}

std::optional<double> ProfileEnd::find_directly(double by, double guess) {
  const auto out = from_guess(by, guess);
  return out ? std::optional(value(*out)) : std::nullopt;
}

std::optional<double> ProfileEnd::find_near(double by, const VectorXd& theta) {
  const auto out = directly(by, theta, kMostNear);
  return out ? std::optional(value(*out)) : std::nullopt;
}

VectorXd ProfileEnd::way() const { return end_ - walked_.at(0).theta; }

double ProfileEnd::to_bound() const {
  const double top = side_.top.theta[side_.parameter];
  return side_.sign > 0 ? parameter().upper - top : top - parameter().lower;
}

double ProfileEnd::value(double distance) const {
  if (distance >= to_bound()) return side_.sign > 0 ? parameter().upper : parameter().lower;
  return side_.top.theta[side_.parameter] + side_.sign * distance;
}

double ProfileEnd::distance(const Place& place) const {
  return side_.sign * (place.theta(index()) - side_.top.theta[side_.parameter]);
}

Result<ProfileEnd::Place> ProfileEnd::evaluate(const VectorXd& theta) {
  const auto n = static_cast<std::size_t>(theta.size());
  const Outcome at = engine_.at({theta.data(), n}, Order::information, {}, at_);
  work_ += at ? at->work : at.failure().work;
  if (!at) return at.failure();
  if (most_work_ == 0) most_work_ = kMostWork * at->work;
  Place out{theta, at->loglik, VectorXd::Map(at->gradient.data(), theta.size()),
            MatrixXd::Map(at->information.data(), theta.size(), theta.size())};
  if (!std::isfinite(out.loglik) || !out.gradient.allFinite() || !out.information.allFinite())
    return Failure{Failure::Code::undefined, "the likelihood has no finite derivatives here"};
  return out;
}

VectorXd ProfileEnd::within_bounds(VectorXd theta) const {
  for (Index i = 0; i < theta.size(); ++i) {
    const Parameter& p = engine_.parameters()[static_cast<std::size_t>(i)];
    theta(i) = std::clamp(theta(i), p.lower, p.upper);
  }
  return theta;
}

// All other parameters but those that a bound holds.
std::vector<Index> ProfileEnd::free_others(const Place& at) const {
  std::vector<Index> out;
  for (Index i = 0; i < at.theta.size(); ++i) {
    const Parameter& p = engine_.parameters()[static_cast<std::size_t>(i)];
    const bool held =
        (at.theta(i) <= p.lower && at.gradient(i) <= 0) || (at.theta(i) >= p.upper && at.gradient(i) >= 0);
    if (i != index() && !held) out.push_back(i);
  }
  return out;
}

// Newton's method on: the log-likelihood is what it should be at the end, and its slopes in the others are 0 (Venzon
// and Moolgavkar, Applied Statistics 37, 1988), between the distances that are known to be too short and too long. None
// where it does not arrive.
std::optional<double> ProfileEnd::directly(double by, VectorXd theta, int steps) {
  const Place& top = walked_.at(0);
  double inner = 0, outer = to_bound();
  theta = within_bounds(std::move(theta));
  for (int i = 0; i < steps && theta.allFinite(); ++i) {
    const auto at = evaluate(theta);
    if (!at && at.failure().code == Failure::Code::too_coarse && i > 0) {  // nearer ones were not
      theta = (top.theta + theta) / 2;
      continue;
    }
    if (!at || !(distance(*at) > 0)) return {};
    const std::vector<Index> others = free_others(*at);
    double left = 0;  // squared length of Newton's step of the others
    if (!others.empty()) {
      const auto inverse = inverse_if_positive(at->information(others, others));
      if (!inverse) {
        theta = (top.theta + at->theta) / 2;
        continue;
      }
      const VectorXd slope = at->gradient(others);
      left = slope.dot(*inverse * slope);
    }
    const double fallen = top.loglik - at->loglik;
    if (std::abs(fallen - by) < kFallError * by && left < kTolerance * kTolerance) {
      walked_[distance(*at)] = *at;
      return corrected(by, *at);
    }
    if (left < kTrusted) {
      double& side = fallen - left / 2 < by ? inner : outer;
      side = distance(*at);
    }
    theta = next_place(*at, top.loglik - by, {inner, outer});
  }
  return {};
}

// By Newton's step from a place, which goes no farther than what has been seen; where the parabola does not fall so
// far, halfway back.
VectorXd ProfileEnd::next_place(const Place& at, double loglik, const Seen& seen) const {
  const auto step = step_to(loglik, at);
  if (!step) return (walked_.at(0).theta + at.theta) / 2;
  const double here = distance(at), wanted = here + side_.sign * (*step)(index());
  const double share = std::min(1.0, here / std::max(std::abs(wanted - here), 1e-300));
  const double reached = std::lerp(here, wanted, share);
  if (reached > seen.inner && reached < seen.outer) return within_bounds(at.theta + *step * share);
  const double middle = reached >= seen.outer ? (here + seen.outer) / 2 : (here + seen.inner) / 2;
  return within_bounds(at.theta + side_.sign * (middle - here) * ridge(at.information, index()));
}

// The end, from a place that is near to it.
std::optional<double> ProfileEnd::corrected(double by, const Place& at) {
  end_ = at.theta;
  const auto step = step_to(side_.top.loglik - by, at);
  if (step && std::abs((*step)(index())) < kLargestMend * distance(at)) end_ = within_bounds(at.theta + *step);
  return side_.sign * (end_(index()) - walked_.at(0).theta(index()));
}

// On the parabola at a place, the nearest point at which it has this value and is highest in the others.
std::optional<VectorXd> ProfileEnd::step_to(double loglik, const Place& at) const {
  const std::vector<Index> others = free_others(at);
  const Index p = index();
  VectorXd still = VectorXd::Zero(at.theta.size()), along = still;  // step(δ) = still + δ along
  along(p) = 1;
  if (!others.empty()) {
    const Eigen::LDLT<MatrixXd> inner(at.information(others, others));
    const VectorXd slope = at.gradient(others), across = at.information(others, p);
    const VectorXd a = inner.solve(slope), b = -inner.solve(across);
    for (std::size_t k = 0; k < others.size(); ++k)
      still(others[k]) = a(static_cast<Index>(k)), along(others[k]) = b(static_cast<Index>(k));
  }
  // value + linear δ − bend δ²/2 = loglik
  const double value = at.loglik + at.gradient.dot(still) - still.dot(at.information * still) / 2;
  const double linear = at.gradient.dot(along) - along.dot(at.information * still);
  const double bend = along.dot(at.information * along), rest = value - loglik;
  const double inside = linear * linear + 2 * bend * rest;
  if (!(inside >= 0) || !(side_.sign * linear < 0)) return {};
  const double delta = 2 * rest / (-linear + side_.sign * std::sqrt(inside));
  if (!std::isfinite(delta)) return {};
  return still + delta * along;
}

// The maximum over the others further and further out, then between two distances. Where the steps of time are too long
// for the outer one, the next is nearer.
std::optional<double> ProfileEnd::by_walking(double by, double guess) {
  const double bound = to_bound();
  const double most = kFarthest * (std::abs(value(0)) + std::abs(parameter().start) + 1);
  double inner = 0, outer = std::min(guess, bound), below = 0, above = 0, growth = 2;
  std::vector<double> walked;  // falls at distances that double
  for (int i = 0;; ++i) {
    if (i == kMostDoublings || outer > most) return {};
    const auto there = fall(outer);
    if (!there && growth < kLeastGrowth) throw LevelTooCoarse{};
    if (there && *there >= by) {
      above = *there;
      break;
    }
    if (there && outer == bound) return at_end(bound);
    if (there) {
      if (growth == 2) walked.push_back(*there);
      if (levels_off(walked, by)) return {};
      inner = outer, below = *there;
    } else {
      growth = std::sqrt(growth);
    }
    outer = inner > 0 ? std::min(growth * inner, bound) : outer / 2;
  }
  // √fall is nearly linear.
  for (int i = 0; i < kMostSteps && outer - inner > kFallError * outer && std::abs(above / by - 1) > kFallError; ++i) {
    const double secant = (std::sqrt(by) - std::sqrt(below)) / (std::sqrt(above) - std::sqrt(below));
    const double share = std::isfinite(above) && i % 3 != 2 ? std::clamp(secant, 0.05, 0.95) : 0.5;
    const double middle = inner + share * (outer - inner);
    const auto at = fall(middle);
    if (!at) throw LevelTooCoarse{};
    if (*at >= by)
      outer = middle, above = *at;
    else
      inner = middle, below = *at;
  }
  if (!(std::abs(above / by - 1) < kFarFromFall)) return at_end(outer);
  return corrected(by, walked_.at(outer));
}

double ProfileEnd::at_end(double distance) {
  end_ = std::prev(walked_.upper_bound(distance))->second.theta;
  end_(index()) = value(distance);
  return distance;
}

// Infinite where there is no likelihood; none where the steps of time are too long.
std::optional<double> ProfileEnd::fall(double distance) {
  if (most_work_ == 0) evaluate(walked_.at(0).theta);  // for what a value costs
  const auto there = walk(at_, std::prev(walked_.upper_bound(distance))->second, distance);
  if (!there && there.failure().code == Failure::Code::too_coarse) return {};
  if (!there) return std::numeric_limits<double>::infinity();
  walked_[distance] = *there;
  if (at_.effort.extrapolated) at_ = at_level(at_, there->level);  // further out no coarser one serves
  return std::max(0.0, side_.top.loglik - there->loglik);
}

// From another place of the way, along the ridge that its information tells; where that fails, straight.
Result<ProfileEnd::Place> ProfileEnd::walk(const Request& request, const Place& from, double distance) {
  const double way = value(distance) - from.theta(index());
  VectorXd straight = VectorXd::Zero(from.theta.size());
  straight(index()) = 1;
  Failure why;
  const std::vector<Index> others = free_others(from);
  std::vector<bool> held(engine_.parameters().size(), true);
  for (const Index i : others) held[static_cast<std::size_t>(i)] = false;
  for (const VectorXd& direction : {ridge(from.information, index(), held), straight}) {
    const VectorXd theta = within_bounds(from.theta + way * direction);
    std::vector<double> start(theta.begin(), theta.end());
    start[side_.parameter] = value(distance);
    const auto at = maximise(engine_, start,
                             {.request = request,
                              .most_iterations = kMostIterations,
                              .tolerance = kTolerance,
                              .held = {side_.parameter},
                              .most_work = std::max(most_work_ - work_, most_work_ / kMostWork),
                              .finest = finest_},
                             &work_);
    if (most_work_ > 0 && work_ > most_work_) throw EndTooFar{};
    if (!at) {
      why = at.failure();
      if (why.code == Failure::Code::too_much_work) why.code = Failure::Code::too_coarse;
      if (why.code == Failure::Code::too_coarse) break;
      continue;
    }
    return Place{VectorXd::Map(at->theta.data(), theta.size()), at->loglik, at->gradient, at->information, at->level};
  }
  return why;
}

// An end that is Euler's: with steps half as long the likelihood has hardly fallen there.
bool ProfileEnd::moves_out(double distance, double by) {
  if (at_.effort.level == kContinuous) return false;
  const auto top = maximise(engine_, side_.top.theta, {.request = finer_, .tolerance = kTolerance}, &work_);
  if (!top) return false;
  const auto there = walk(finer_, std::prev(walked_.upper_bound(distance))->second, distance);
  return there && top->loglik - there->loglik < kMovesOut * by;
}
}  // namespace mckean
