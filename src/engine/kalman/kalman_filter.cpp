#include "engine/kalman/kalman_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mckean/tasks.hpp"
#include "model/symmetric.hpp"

namespace mckean {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr double kNormal95 = 1.6448536269514722;  // the 95 % quantile of a normal variate
constexpr double kStepCost = 10;                  // of a step in one dimension, in moves of a grid's point

}  // namespace

KalmanFilter::KalmanFilter(const Problem& problem, const LinearFormulas& formulas, std::span<const double> theta,
                           const Request& request)
    : problem_(problem),
      formulas_(formulas),
      request_(request),
      reader_(formulas, theta),
      times_(observation_times(problem.data())),
      loglik_(1, 1, formulas.parameters()) {
  if (request.effort.level != kContinuous)
    schedule_.emplace(problem.data(), request.effort.level, problem.unit(), request.effort.scheme);
  const auto& components = problem.model().components();
  VectorXd mean(static_cast<Index>(components.size())), variance(mean.size());
  for (std::size_t i = 0; i < components.size(); ++i) {
    const auto at = static_cast<Index>(i);
    mean[at] = components[i].start, variance[at] = components[i].start_sd * components[i].start_sd;
  }
  law_mean_ = JetMatrix(mean, formulas.parameters());
  law_covariance_ = JetMatrix(MatrixXd(variance.asDiagonal()), formulas.parameters());
  for (std::size_t s = 0; s < problem.data().series.size(); ++s)
    tracks_.push_back({0, law_mean_, law_covariance_, {}, {}});
}

Outcome KalmanFilter::run() {
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (request_.stop.stop_requested()) throw Stopped{};
    if (times_[i] > 0) move(i);
    now_ = reader_.at(times_[i], law_mean_, law_covariance_);
    if (keeps_moments_)
      for (Track& t : tracks_) {
        const Index d = t.mean.rows();
        if (t.moments.size() == i) t.moments.push_back({MatrixXd::Identity(d, d), {}, {}, {}, {}});  // the start
        t.moments[i].predicted = t.mean[0], t.moments[i].predicted_covariance = t.covariance[0];
      }
    for (std::size_t s = 0; s < tracks_.size(); ++s) {
      const Series& series = problem_.data().series[s];
      if (tracks_[s].row >= series.times.size() || series.times[tracks_[s].row] != times_[i]) continue;
      if (observe(s, tracks_[s])) continue;
      return Failure{Failure::Code::undefined,
                     fmt::format("{}:{}: the prediction has no density: its variance is not positive and finite",
                                 problem_.data().source, series.lines[tracks_[s].row])};
    }
    if (keeps_moments_)
      for (Track& t : tracks_) t.moments[i].mean = t.mean[0], t.moments[i].covariance = t.covariance[0];
  }
  for (std::size_t e = 0; e < jet_size(formulas_.parameters()); ++e)
    if (!std::isfinite(loglik_(e, 0, 0)))
      return Failure{Failure::Code::undefined, "the log-likelihood or its derivatives are not finite"};
  return result();
}

Propagation KalmanFilter::interval(std::size_t i) {
  if (formulas_.constant()) return constant_interval(i);
  const Grid& grid = schedule_->grid;
  std::optional<Propagation> out;
  for (std::size_t k = i == 0 ? 0 : grid.points[i - 1]; k < grid.points[i]; ++k) {
    const Propagation step = step_by(grid.step[k]);
    law_mean_ = step.F * law_mean_ + step.f;
    if (formulas_.reads_covariance()) law_covariance_ = step.F * law_covariance_ * step.F.transposed() + step.Q;
    out = out ? composed(*out, step) : step;
    ++work_;
  }
  return *out;
}

// Of the scheme, from where the law is.
Propagation KalmanFilter::step_by(const StepTime& step) {
  if (schedule_->grid.scheme == Scheme::splitting) return splitting_step(reader_, step, law_mean_, law_covariance_);
  return euler_step(reader_.at(step.t, law_mean_, law_covariance_), step);
}

// n steps, all alike but for the first and the last.
Propagation KalmanFilter::steps_by(std::size_t first, std::size_t n) {
  const std::vector<StepTime>& step = schedule_->grid.step;
  if (schedule_->grid.scheme == Scheme::euler) return repeated(step_by(step[first]), n);
  const Propagation ends = composed(step_by(step[first]),
                                    n > 2 ? repeated(step_by(step[first + 1]), n - 2) : step_by({step[first].t, 0, 0}));
  return composed(ends, step_by(step[first + n - 1]));
}

Propagation KalmanFilter::constant_interval(std::size_t i) {
  const double h = times_[i] - (i == 0 ? 0 : times_[i - 1]);
  const std::size_t first = schedule_ && i > 0 ? schedule_->grid.points[i - 1] : 0;
  const std::size_t n = schedule_ ? schedule_->grid.points[i] - first : 0;
  auto& known = known_[{h, n}];
  if (known.F.rows() == 0) {
    known = schedule_ ? steps_by(first, n) : exactly(reader_.at(0, law_mean_, law_covariance_), h);
    ++work_;
  }
  law_mean_ = (known.F + known.M) * law_mean_ + known.f;
  return known;
}

void KalmanFilter::move(std::size_t i) {
  const JetMatrix from = law_mean_;  // which the filters feel over the whole interval by M
  const Propagation by = interval(i);
  const JetMatrix shift = by.M * from + by.f;
  for (Track& t : tracks_) {
    t.mean = by.F * t.mean + shift;
    t.covariance = by.F * t.covariance * by.F.transposed() + by.Q;
    if (keeps_moments_) t.moments.push_back({by.F[0], {}, {}, {}, {}});
    ++work_;
  }
}

bool KalmanFilter::observe(std::size_t s, Track& track) {
  const Data& data = problem_.data();
  const std::size_t width = data.columns.size();
  const auto values = std::span(data.series[s].values).subspan(track.row * width, width);
  if (request_.predictions) predict(track, values);
  for (std::size_t c = 0; c < width; ++c)
    if (!std::isnan(values[c]) && !update(track, static_cast<Index>(c), values[c])) return false;
  ++track.row;
  return true;
}

// (y − E y)/sd y of each column, given the rows before.
void KalmanFilter::predict(Track& track, std::span<const double> values) const {
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto row = static_cast<Index>(c);
    const MatrixXd H = now_.H[0].row(row);
    const double mean = (H * track.mean[0])(0, 0) + now_.h(0, row, 0);
    const double variance = (H * track.covariance[0] * H.transpose())(0, 0) + now_.v(0, row, 0);
    track.prediction_errors.push_back((values[c] - mean) / std::sqrt(variance));
  }
}

// With S the variance of the prediction and r = y − its mean: log N(r; 0, S), and the state given y. A tempered
// observation, N(y; ·, v)^β, is one of variance v/β, up to a factor.
bool KalmanFilter::update(Track& track, Index column, double y) {
  const std::size_t p = formulas_.parameters();
  const Index d = track.mean.rows();
  const JetMatrix H = now_.H.block(column, 0, 1, d), v = now_.v.block(column, 0, 1, 1);
  const double temper = request_.effort.temper;
  const JetMatrix across = track.covariance * H.transposed();
  const JetMatrix S = H * across + (1 / temper) * v;
  if (!(S(0, 0, 0) > 0) || !std::isfinite(S(0, 0, 0))) return false;
  const JetMatrix residual =
      JetMatrix(MatrixXd::Constant(1, 1, y), p) - (H * track.mean + now_.h.block(column, 0, 1, 1));
  const JetMatrix precision = inverse(S), weighted = precision * residual;
  const double two_pi = 2 * std::numbers::pi;
  loglik_ += -0.5 * (log(two_pi * S) + residual * weighted);
  if (temper != 1) loglik_ += 0.5 * (log((two_pi / temper) * v) - temper * log(two_pi * v));
  track.mean += across * weighted;
  track.covariance += -1 * (scaled(precision, across) * across.transposed());
  return true;
}

// Rauch, Tung and Striebel: from the last time back, x_i given all is x_i given y_1..i plus
// C (x_{i+1} − its prediction), C = P_i Fᵀ P⁻¹ with P the covariance of that prediction.
void KalmanFilter::smooth_back(std::vector<Moment>& moments) {
  for (std::size_t i = moments.size() - 1; i-- > 0;) {
    Moment& here = moments[i];
    const Moment& next = moments[i + 1];
    const MatrixXd gain = here.covariance * next.F.transpose() * pseudo_inverse(next.predicted_covariance);
    here.mean += gain * (next.mean - next.predicted);
    here.covariance += gain * (next.covariance - next.predicted_covariance) * gain.transpose();
  }
}

Result<States> KalmanFilter::smooth() {
  keeps_moments_ = true;
  if (const Outcome found = run(); !found) return found.failure();
  States out;
  for (std::size_t s = 0; s < tracks_.size(); ++s) {
    std::vector<Moment>& moments = tracks_[s].moments;
    const std::vector<double>& rows = problem_.data().series[s].times;
    smooth_back(moments);
    out.emplace_back(static_cast<std::size_t>(tracks_[s].mean.rows()));
    for (std::size_t c = 0; c < out[s].size(); ++c)
      for (const double t : rows) {
        const auto i = static_cast<std::size_t>(std::ranges::lower_bound(times_, t) - times_.begin());
        const auto at = static_cast<Index>(c);
        const double mean = moments[i].mean[at], sd = std::sqrt(std::max(0.0, moments[i].covariance(at, at)));
        out[s][c].push_back({mean, sd, mean - kNormal95 * sd, mean, mean + kNormal95 * sd});
      }
  }
  return out;
}

Evaluation KalmanFilter::result() const {
  Evaluation out;
  out.loglik = loglik_(0, 0, 0);
  out.work = work_ * kStepCost * static_cast<double>(law_mean_.rows() * law_mean_.rows());
  const std::size_t p = formulas_.parameters();
  for (std::size_t b = 1; b <= p; ++b) {
    out.gradient.push_back(loglik_(jet_index(0, b), 0, 0));
    for (std::size_t a = 1; a <= p; ++a) out.information.push_back(-loglik_(jet_index(a, b), 0, 0));
  }
  for (const Track& t : tracks_)
    out.prediction_errors.insert(out.prediction_errors.end(), t.prediction_errors.begin(), t.prediction_errors.end());
  return out;
}
}  // namespace mckean
