#include "infer/search/ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/search/normal_draws.hpp"
#include "model/symmetric.hpp"
#include "noise/noise.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kError = 0.2;                          // log units, of a profile log-likelihood from its first samples
constexpr double kUncertain = 0.25, kCarefully = 0.2;   // from here on it takes more of them; where the guess is no
                                                        // parabola's
constexpr double kBent = 0.2;                           // share by which it then differs from that
constexpr std::size_t kMostTimes = 6;                   // as many samples
constexpr std::size_t kDraws = 8;                       // that tell whether a point is higher than the top
constexpr double kHigher = 0.3;                         // log units above the top, beyond errors, that make it none
constexpr double kSpread = 0.8;                         // of the samples across, in standard deviations
constexpr double kFarRidge = 2, kOtherCurvature = 0.7;  // standard deviations of what is expected of slopes, curvature
// The same where the polynomial at the top tells, beside its own errors: of the profile's value, slopes and curvature.
constexpr double kOffValue = 0.2, kOffRidge = 0.4, kOffCurvature = 0.4;
constexpr double kOffBent = 0.25;               // and of the value, a share of what it has beyond a parabola
constexpr double kVague = 0.6, kOutside = 3.5;  // error of the polynomial, and distance in u, from where on it does not
constexpr double kContrary = 2.5;               // standard deviations between it and samples that refute it
constexpr double kKept = 2;     // standard deviations from the centre within which samples count when it moves
constexpr double kSharper = 2;  // curvature from which on the others have another spread at the next distance
constexpr double kClose = 0.2;  // share by which the fall at a guess may be off
constexpr int kPasses = 4;
constexpr double kBeyond = 1.5;        // times the guess, from where on an end may be that of steps that are too long
constexpr double kCliff = 3;           // times the root of the fall, just beyond it, that no smooth likelihood has
constexpr double kBeyondCliff = 1.3;   // times the distance of an end before a cliff, where finer steps look
constexpr double kLeastShare = 0.05;   // of the guess, at which nothing can have fallen so far
constexpr double kNarrow = 0.12;       // share of the distance that an end may be uncertain by
constexpr double kFarShift = 1.2;      // standard deviations to the ridge from which on it is sought again
constexpr double kFarthest = 100;      // distance, in units of the estimate and its start
constexpr double kLeastGrowth = 1.15;  // of a distance at which too little has fallen
constexpr double kMovesOut = 0.75;     // share of the fall that is left with steps half as long
constexpr int kMostMoves = 3, kMostDistances = 12, kFinest = 12;

// A profile log-likelihood at one value of a parameter: the others are sampled around where its ridge is thought to be,
//   a + b·w − ½ k |w|²   in standard deviations w of the others given the parameter at the top.
struct Profile {
  double value;         // a
  VectorXd slope;       // b
  double curvature;     // k
  MatrixXd covariance;  // of a, b and k

  VectorXd ridge() const {
    const VectorXd w = slope / curvature;
    return w * std::min(1.0, 2 / std::max(w.norm(), 1e-300));
  }
  double at(const VectorXd& w) const { return value + slope.dot(w) - curvature * w.squaredNorm() / 2; }
  // What the squares of slopes are because of noise makes of the height of the ridge.
  double by_chance() const { return covariance.diagonal().segment(1, slope.size()).sum() / (2 * curvature); }
  double error_at(const VectorXd& w) const {
    VectorXd row(w.size() + 2);
    row[0] = 1, row.segment(1, w.size()) = w, row[w.size() + 1] = -w.squaredNorm() / 2;
    return std::sqrt(row.dot(covariance * row));
  }
};

// What is known of a profile beforehand: means and standard deviations of a, b and k.
struct Prior {
  VectorXd mean, sd;

  // That the curvature is about 1 and the ridge not far.
  static Prior vague(Index across) {
    Prior out{VectorXd::Zero(across + 2), VectorXd::Constant(across + 2, kFarRidge)};
    out.sd[0] = kInfinity, out.mean[across + 1] = 1, out.sd[across + 1] = kOtherCurvature;
    return out;
  }
  bool tells_value() const { return std::isfinite(sd[0]); }
  bool refuted_by(const Profile& p) const {
    return tells_value() && std::abs(p.value - mean[0]) > kContrary * std::hypot(std::sqrt(p.covariance(0, 0)), sd[0]);
  }
};

// A few noisy samples say little of the curvature, and would place the ridge anywhere: what is known beforehand counts
// as observations. The noise is at least that of the samples at the top.
Profile profile_through(std::span<const VectorXd> w, const VectorXd& y, double least_noise, const Prior& prior) {
  const Index n = y.size(), across = w[0].size(), all = across + 2;
  MatrixXd design(n, all);
  for (Index i = 0; i < n; ++i) {
    const VectorXd& at = w[static_cast<std::size_t>(i)];
    design(i, 0) = 1, design.row(i).segment(1, across) = at.transpose(), design(i, all - 1) = -at.squaredNorm() / 2;
  }
  const double level = y.mean();
  const VectorXd above = y.array() - level;
  double noise = least_noise * least_noise;
  VectorXd c, mean = prior.mean;
  if (prior.tells_value()) mean[0] -= level;
  MatrixXd covariance;
  for (int pass = 0; pass < 2; ++pass) {
    const VectorXd weights = noise * prior.sd.cwiseAbs2().cwiseInverse();
    MatrixXd normal = design.transpose() * design;
    normal += weights.asDiagonal();
    const MatrixXd inverse = pseudo_inverse(normal);
    c = inverse * (design.transpose() * above + weights.cwiseProduct(mean));
    covariance = noise * inverse;
    noise = std::max(noise, (above - design * c).squaredNorm() / static_cast<double>(std::max<Index>(1, n - all)));
  }
  return {level + c[0], c.segment(1, across), std::clamp(c[all - 1], 0.3, 4.0), covariance};
}

// Of one end: asks for values at a distance, is told them, and goes further out or back.
class EndSearch {
 public:
  EndSearch(const Box& box, const Rounds& rounds, const End& end) : box_(box), rounds_(rounds), end_(end) {
    const Index i = end.parameter;
    const Fit& fit = *rounds.fit();
    for (Index j = 0; j < box.size(); ++j)
      if (j != i && fit.top.bound[static_cast<std::size_t>(j)] == 0 && fit.covariance(j, j) > 0) others_.push_back(j);
    slope_ = end.ridge(others_);
    describe_others(fit);
    parabola_ = std::sqrt(2 * end.fall * fit.covariance(i, i));
    bearable_ = end.trusted && std::abs(end.guess - parabola_) < kBent * parabola_ ? kUncertain : kCarefully;
    const double wanted = std::pow(std::max(rounds.noise(), 0.05) / kError, 2);
    const double least = 2 * static_cast<double>(others_.size()) + 6;
    samples_ = static_cast<std::size_t>(std::clamp(wanted, least, 4 * least) / 2) * 2;
    room_ = end.sign > 0 ? box.upper[i] - top()[i] : top()[i] - box.lower[i];
    go_to(end.guess);
  }

  bool done() const { return phase_ == Phase::done; }
  const std::optional<double>& distance() const { return found_; }
  const std::optional<VectorXd>& higher() const { return higher_; }
  void disbelieve() { higher_.reset(), disbelieved_ = true; }  // it turned out not to be

  std::vector<Point> ask(std::uint64_t seed) {
    NormalDraws draws(seed);
    std::vector<Point> out;
    Effort effort = rounds_.effort();
    if (phase_ == Phase::finer) {
      ++effort.level;
      out.assign(samples_, {box_.theta(box_.inside(top())), effort});
    }
    for (std::size_t i = 0; i < samples_; i += 2) {  // every third pair at the centre, which tells most of the value
      const VectorXd w = (i % 3 == 0 ? 0 : kSpread) * draws.next(others());
      for (const double sign : {1.0, -1.0}) {
        w_.push_back(within(sign * w));
        out.push_back({box_.theta(box_.inside(at(w_.back()))), effort});
      }
    }
    return out;
  }

  void tell(std::span<const Value> values) {
    const auto some = values.last(samples_);
    values_.insert(values_.end(), some.begin(), some.end());
    const auto profile = profile_here();
    if (!profile && phase_ == Phase::seek) return fallen(kInfinity, 0);
    // The ridge, or where it meets a bound.
    const VectorXd ridge = profile ? within(profile->ridge()) : VectorXd();
    const double gained = profile ? profile->at(ridge) - profile->value - profile->by_chance() : 0;
    const double highest = profile ? profile->value + std::max(0.0, gained) : -kInfinity;
    if (profile && ridge.norm() > kFarShift && moves_++ < kMostMoves) return move(ridge);
    const double ridge_error = profile ? profile->error_at(ridge) : 0;
    if (ridge_error > bearable_ && w_.size() < kMostTimes * samples_) return;  // more of them
    if (phase_ == Phase::finer) {
      const Moments top = moments(values.first(samples_));
      const double error = std::hypot(ridge_error, std::sqrt(top.variance / static_cast<double>(samples_)));
      if (profile && top.found > 0 && top.mean - highest + error < kMovesOut * end_.fall) found_.reset();
      phase_ = Phase::done;
      return;
    }
    slope_ = (centre_ + root_ * ridge - top()(others_)) / distance_;
    if (profile->curvature > kSharper || profile->curvature < 1 / kSharper) root_ /= std::sqrt(profile->curvature);
    const Fit& fit = *rounds_.fit();
    const double by = fit.top.value - highest, error = std::hypot(ridge_error, fit.f.value_error(fit.top.u));
    if (by < -kHigher - 3 * error && !disbelieved_) higher_ = box_.inside(at(ridge));
    fallen(std::max(0.0, by), error);
  }

 private:
  enum class Phase { seek, finer, done };
  struct Fallen {
    double distance, root;  // √fall, which is nearly linear in the distance
  };

  const VectorXd& top() const { return rounds_.fit()->top.z; }

  // The standard deviations of the others when the parameter is held.
  void describe_others(const Fit& fit) {
    const Index i = end_.parameter;
    MatrixXd covariance = fit.covariance(others_, others_);
    if (end_.trusted && fit.covariance(i, i) > 0) {  // no bound holds it
      const VectorXd joint = fit.covariance(others_, i);
      covariance -= joint * joint.transpose() / fit.covariance(i, i);
    }
    const Spectrum s = spectrum(covariance);
    const VectorXd sd = s.values.cwiseMax(1e-20).cwiseSqrt();
    root_ = s.vectors * sd.asDiagonal();
  }

  VectorXd at(const VectorXd& w) const {
    VectorXd z = top();
    z[end_.parameter] += end_.sign * distance_;
    z(others_) = centre_ + root_ * w;
    return z;
  }

  // The nearest w, in standard deviations, whose place no bound excludes: one parameter moved back by itself may leave
  // a narrow ridge.
  VectorXd within(VectorXd w) const {
    for (int pass = 0; pass < kPasses; ++pass) {
      const VectorXd z = at(w);
      const VectorXd back = (box_.inside(z) - z)(others_);
      for (Index j = 0; j < back.size(); ++j)
        if (back[j] != 0) w += root_.row(j).transpose() * (back[j] / root_.row(j).squaredNorm());
    }
    return w;
  }

  void go_to(double distance) {
    distance_ = std::min(distance, room_);
    centre_ = top()(others_) + slope_ * distance_;
    centre_ += root_ * within(VectorXd::Zero(centre_.size()));
    moves_ = 0;
    forget();
  }

  void forget() { w_.clear(), values_.clear(); }

  // The centre; samples that are not far from the new one still count.
  void move(const VectorXd& by) {
    centre_ += root_ * by;
    std::vector<VectorXd> w;
    std::vector<Value> values;
    for (std::size_t i = 0; i < w_.size(); ++i) {
      if ((w_[i] - by).norm() > kKept) continue;
      w.push_back(w_[i] - by);
      values.push_back(values_[i]);
    }
    w_ = std::move(w), values_ = std::move(values);
  }

  // None where there are hardly any values.
  std::optional<Profile> profile_here() const {
    std::vector<VectorXd> w;
    std::vector<double> y;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (values_[i].loglik) w.push_back(w_[i]), y.push_back(*values_[i].loglik);
    if (2 * y.size() < values_.size()) return {};
    const Eigen::Map<const VectorXd> values(y.data(), static_cast<Index>(y.size()));
    const double noise = std::max(rounds_.noise(), 0.05);
    const Profile alone = profile_through(w, values, noise, Prior::vague(others()));
    if (!alone.covariance.allFinite()) return {};  // values beyond all bounds, of steps that are too long
    const auto told = told_here();
    return !told || told->refuted_by(alone) ? alone : profile_through(w, values, noise, *told);
  }

  Index others() const { return static_cast<Index>(others_.size()); }

  // What the polynomial at the top says of the profile here, if it reaches so far.
  std::optional<Prior> told_here() const {
    const Fit& fit = *rounds_.fit();
    if (!end_.trusted || phase_ == Phase::finer || fit.region.widths.size() < box_.size()) return {};
    const VectorXd u = fit.region.from(at(VectorXd::Zero(others())));
    const double error = fit.f.value_error(u);
    if (u.norm() > kOutside || error > kVague) return {};
    const MatrixXd across = fit.region.inverse()(Eigen::all, others_) * root_;
    const MatrixXd slope_error = across.transpose() * fit.f.gradient_error(u) * across;
    const MatrixXd curvature = -across.transpose() * fit.f.hessian(u) * across;
    Prior out = Prior::vague(others());
    if (others() == 0)
      out.mean[0] = fit.f.value(u);
    else
      out.mean << fit.f.value(u), across.transpose() * fit.f.gradient(u), curvature.diagonal().mean();
    const double share = distance_ / parabola_, bent = end_.fall * share * share - (fit.top.value - out.mean[0]);
    out.sd[0] = std::hypot(error, kOffValue + kOffBent * std::abs(bent));
    out.sd.segment(1, others()) = (slope_error.diagonal().array() + kOffRidge * kOffRidge).sqrt();
    out.sd[others() + 1] = kOffCurvature;
    return out;
  }

  void fallen(double by, double error) {
    ++distances_;
    const double share = distance_ / end_.guess;
    if (distances_ == 1 && end_.trusted && std::abs(by - end_.fall * share * share) < kClose * end_.fall + error / 2) {
      end_at(end_.guess);
      return;
    }
    const double want = std::sqrt(end_.fall);
    cliff_ = cliff_ || std::sqrt(by) > kCliff * want;
    if (by < end_.fall)
      inner_ = {distance_, std::sqrt(by)};
    else
      outer_ = {distance_, std::sqrt(by)};
    if (by < end_.fall && distance_ >= room_) return end_at(room_);
    if (!outer_) {
      const double farthest = box_.bent(end_.parameter, kFarthest * std::max(1.0, std::abs(top()[end_.parameter])));
      if (distance_ > farthest) return end_at({});
      return go_to(distance_ * std::clamp(want / std::max(inner_.root, 1e-3), kLeastGrowth, 2.5));
    }
    const double share_between =
        std::isfinite(outer_->root) ? (want - inner_.root) / std::max(outer_->root - inner_.root, 1e-9) : 0.5;
    const double between = inner_.distance + std::clamp(share_between, 0.0, 1.0) * (outer_->distance - inner_.distance);
    const bool narrow = outer_->distance - inner_.distance < kNarrow * outer_->distance;
    if (narrow || distances_ >= kMostDistances || std::abs(by - end_.fall) < kClose / 2 * end_.fall + error / 2)
      return end_at(between);
    if (outer_->distance < kLeastShare * end_.guess) return end_at(end_.guess);  // where all is far below the top
    const double width = outer_->distance - inner_.distance;
    go_to(std::clamp(between, inner_.distance + 0.15 * width, outer_->distance - 0.15 * width));
  }

  // An end far beyond the guess, or before a cliff, may be that of steps that are too long: half as long ones tell.
  void end_at(std::optional<double> distance) {
    found_ = distance;
    const bool far = distance && *distance < room_ && (!end_.trusted || cliff_ || *distance > kBeyond * end_.guess);
    phase_ = far && rounds_.effort().level < kFinest ? Phase::finer : Phase::done;
    // Of a cliff, the far side: one that finer steps have as well is an end.
    if (phase_ == Phase::finer)
      go_to(cliff_ && outer_ ? std::min(outer_->distance, kBeyondCliff * *distance) : *distance);
  }

  const Box& box_;
  const Rounds& rounds_;
  End end_;
  std::vector<Index> others_;
  MatrixXd root_;
  VectorXd slope_, centre_;  // of the others: per unit of distance, and at the current one
  std::vector<VectorXd> w_;  // that were asked for at the current place, and what they gave
  std::vector<Value> values_;
  double room_, distance_ = 0;
  double parabola_, bearable_;  // the parabola's guess; error of a profile log-likelihood
  Fallen inner_{0, 0};
  std::optional<Fallen> outer_;
  std::optional<double> found_;
  std::optional<VectorXd> higher_;
  bool disbelieved_ = false, cliff_ = false;
  std::size_t samples_;
  int moves_ = 0, distances_ = 0;
  Phase phase_ = Phase::seek;
};
// Whether the likelihood itself is higher there: the profile through a few samples, followed to where it meets a bound,
// may have made it up.
bool is_higher(Evaluations& evaluate, const Box& box, const Rounds& rounds, const VectorXd& z,
               const std::string& name) {
  const Moments there = moments(evaluate(name, {box.theta(z), rounds.effort()}, kDraws));
  if (2 * there.found < kDraws) return false;
  return there.mean > rounds.fit()->top.value + 2 * std::sqrt(there.variance / static_cast<double>(there.found));
}
}  // namespace

Ends find_ends(Evaluations& evaluate, const Box& box, const Rounds& rounds, std::span<const End> ends,
               const std::string& name) {
  std::vector<EndSearch> all;
  for (const End& e : ends) all.emplace_back(box, rounds, e);
  for (int round = 1;; ++round) {
    std::vector<Point> requests;
    std::vector<std::size_t> counts(all.size(), 0);
    const auto batch = fmt::format("{} {}", name, round);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].done()) continue;
      const auto some = all[i].ask(seed_of(evaluate.seed(), fmt::format("{} design {}", batch, i)));
      requests.insert(requests.end(), some.begin(), some.end());
      counts[i] = some.size();
    }
    if (requests.empty()) break;
    const std::vector<Value> values = evaluate(batch, requests);
    std::size_t first = 0;
    for (std::size_t i = 0; i < all.size(); first += counts[i++])
      if (counts[i] > 0) all[i].tell(std::span(values).subspan(first, counts[i]));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].higher()) continue;
      if (is_higher(evaluate, box, rounds, *all[i].higher(), fmt::format("{} higher {}", batch, i)))
        return {{}, all[i].higher()};
      all[i].disbelieve();
    }
  }
  Ends out;
  for (const EndSearch& e : all) out.distances.push_back(e.distance());
  return out;
}
}  // namespace mckean::search
