#include "engine/particles/ahead_proposal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/particles/weights.hpp"
#include "model/symmetric.hpp"

namespace mckean {
namespace {

constexpr double kFarthest = 1e8;  // |e|² beyond which ψ falls no further

std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
}  // namespace

AheadProposal::AheadProposal(const System& system, const Schedule& schedule, std::size_t particles,
                             const AheadOptions& options, const Kernels& kernels)
    : system_(system),
      schedule_(schedule),
      options_(options),
      kernels_(kernels),
      particles_(particles),
      plain_(schedule.grid, particles, kernels),
      misses_(padded(particles)),
      log_ratio_(padded(particles)) {}

void AheadProposal::set_law(const LawPath& law, std::span<const double> theta) {
  plain_.set_law(law, theta);
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    ahead_ = system_.ahead(schedule_.grid.scheme, dynamics_->field.rank);
    forecaster_.emplace(ahead_, schedule_.grid, kernels_);
    aimer_.emplace(ahead_, schedule_, options_, kernels_);
    miss_ = Frame(ahead_->miss, kernels_);
    steer_ = Frame(ahead_->steer, kernels_);
    judge_ = Frame(ahead_->judge, kernels_);
    steer_last_ = Frame(ahead_->steer_last, kernels_);
    judge_last_ = Frame(ahead_->judge_last, kernels_);
    points_ = Columns(ahead_->dimension, Aimer::kPoints);
    one_ = Columns(ahead_->dimension, 1);
    z_ = Columns(ahead_->sources, 1);
    departed_ = Columns(forecaster_->columns(), particles_);
  }
  forecaster_->set_law(law, theta);
  aimer_->set_parameters(theta);
  for (Frame* f : {&miss_, &steer_, &judge_, &steer_last_, &judge_last_}) f->set_fixed(theta);
}

void AheadProposal::begin(std::size_t series, bool with_reference) {
  series_ = series, with_reference_ = with_reference;
  opening_.assign(schedule_.grid.steps() + 1, {});
  aim_.assign(schedule_.grid.steps(), {});
}

// Particles that stand for all of them: systematically by their weights. In a conditional filter they are ordered by
// their positions first, since what is chosen must not depend on which of them is the reference.
void AheadProposal::choose_points(const Columns& x, const double* log_w) {
  std::copy_n(log_w, particles_, misses_.data());
  if (!std::isfinite(exponentiate(misses_.data(), particles_, kernels_).largest))
    std::fill_n(misses_.data(), particles_, 1.0);
  order_.resize(particles_);
  std::iota(order_.begin(), order_.end(), 0u);
  const auto precedes = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t c = 0; c < x.count(); ++c)
      if (x[c][a] != x[c][b]) return x[c][a] < x[c][b];
    return misses_.data()[a] < misses_.data()[b];
  };
  if (with_reference_) std::ranges::sort(order_, precedes);
  ordered_.clear();
  for (const std::uint32_t i : order_) ordered_.push_back(misses_.data()[i]);
  std::array<std::uint32_t, Aimer::kPoints> chosen{};
  systematic_resample(ordered_, std::accumulate(ordered_.begin(), ordered_.end(), 0.0), 0.5, chosen);
  for (std::size_t c = 0; c < x.count(); ++c)
    for (std::size_t p = 0; p < chosen.size(); ++p) points_[c][p] = x[c][order_[chosen[p]]];
}

void AheadProposal::add_log_psi(const Aim& aim, const Columns& x, std::size_t n, double sign, double* log_w) {
  in_.clear();
  for (std::size_t c = 0; c < ahead_->dimension; ++c) in_.push_back(x[c]);
  miss_.set_uniforms(aim.uniforms);
  miss_.over(n, in_, std::array{misses_.data()});
  for (std::size_t i = 0; i < n; ++i) {
    const double miss = misses_.data()[i];
    log_w[i] += sign * (aim.log_scale - 0.5 * (miss < kFarthest ? miss : kFarthest));
  }
}

// Aims for all steps up to the next row with an observation.
void AheadProposal::first_stage(std::size_t point, const Columns& x, double* log_w) {
  const auto next = std::ranges::find_if(schedule_.visits[series_], [&](const Schedule::Visit& v) {
    return v.point > point && schedule_.observed(series_, v);
  });
  if (next == schedule_.visits[series_].end()) {
    std::fill(aim_.begin() + static_cast<std::ptrdiff_t>(point), aim_.end(), Aim());
    opening_[point] = {};
    return;
  }
  choose_points(x, log_w);
  std::vector<Aim> aims = aimer_->aims(*forecaster_, series_, point, *next, points_);
  opening_[point] = std::move(aims[0]);
  std::move(aims.begin() + 1, aims.end(), aim_.begin() + static_cast<std::ptrdiff_t>(point));
  if (opening_[point])
    add_log_psi(opening_[point], forecaster_->flow(point, next->point, x, particles_), particles_, 1, log_w);
}

template <class Make>
const Columns& AheadProposal::bend(std::size_t k, const Columns& from, std::size_t n, Columns& to, double* log_ratio,
                                   Make&& make) {
  const Aim& aim = aim_[k];
  forecaster_->depart(k, from, n, departed_);
  const Columns& there = forecaster_->carry(k + 1, aim.end, departed_, n);
  const bool last = k + 1 == aim.end;
  in_.clear(), out_.clear();
  std::as_const(departed_).append_to(in_);
  for (std::size_t c = 0; c < departed_.count() && !last; ++c) in_.push_back(there[c]);
  to.append_to(out_);
  out_.push_back(log_ratio);
  Frame& steer = last ? steer_last_ : steer_;
  steer.set_uniforms(aim.uniforms);
  steer.over(n, in_, out_, ahead_->sources, make);
  return there;
}

LawStatus AheadProposal::propose(std::size_t k, const Columns& from, Columns& to, NoiseSource& noise) {
  if (!aim_[k]) {
    std::fill_n(log_ratio_.data(), log_ratio_.size(), 0.0);
    return plain_.propose(k, from, to, noise);
  }
  if (!plain_.inside_windows(k, from)) return LawStatus::window_left;
  const Columns& there = bend(k, from, particles_, to, log_ratio_.data(),
                              [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  if (opening_[k]) add_log_psi(opening_[k], there, particles_, -1, log_ratio_.data());
  return LawStatus::good;
}

void AheadProposal::replay(std::span<const StepOfParticle> at, Columns& x, NoiseSource& noise) {
  const std::size_t d = ahead_->dimension;
  Columns to(d, 1);
  for (std::size_t i = 0; i < at.size(); ++i) {
    for (std::size_t c = 0; c < d; ++c) one_[c][0] = x[c][i];
    const bool aims = static_cast<bool>(aim_[at[i].step]);
    if (aims) {
      for (std::size_t j = 0; j < z_.count(); ++j) noise.single(j, at.subspan(i, 1), z_[j]);
      bend(at[i].step, one_, 1, to, misses_.data(), [&](std::size_t j, std::size_t) { return z_[j]; });
    } else {
      plain_.replay(at.subspan(i, 1), one_, noise);
    }
    for (std::size_t c = 0; c < d; ++c) x[c][i] = aims ? to[c][0] : one_[c][0];
  }
}

// Its normals are recovered from where it was put.
void AheadProposal::displaced(std::size_t k, const Columns& from, const Columns& to, std::size_t particle) {
  const Aim& aim = aim_[k];
  if (!aim) return;
  const std::size_t d = ahead_->dimension, r = ahead_->sources;
  for (std::size_t c = 0; c < d; ++c) one_[c][0] = from[c][particle];
  forecaster_->depart(k, one_, 1, departed_);
  Eigen::MatrixXd directions(d, r);
  Eigen::VectorXd way(d);
  for (std::size_t c = 0; c < d; ++c) {
    const auto row = static_cast<Eigen::Index>(c);
    way[row] = to[c][particle] - departed_[c][0];
    for (std::size_t s = 0; s < r; ++s) directions(row, static_cast<Eigen::Index>(s)) = departed_[d + s * d + c][0];
  }
  const Eigen::VectorXd z = pseudo_inverse(directions.transpose() * directions) * (directions.transpose() * way);
  for (std::size_t s = 0; s < r; ++s) z_[s][0] = z[static_cast<Eigen::Index>(s)];
  const Columns& there = forecaster_->carry(k + 1, aim.end, departed_, 1);
  in_.clear();
  for (std::size_t c = 0; c < departed_.count(); ++c) in_.push_back(there[c]);
  std::as_const(z_).append_to(in_);
  Frame& judge = k + 1 == aim.end ? judge_last_ : judge_;
  judge.set_uniforms(aim.uniforms);
  judge.over(1, in_, std::array{misses_.data()});
  double ratio = misses_.data()[0];
  if (opening_[k]) add_log_psi(opening_[k], there, 1, -1, &ratio);
  log_ratio_.data()[particle] = ratio;
}

void AheadProposal::weigh(std::size_t, const Columns&, const Columns&, double* log_w) {
  for (std::size_t i = 0; i < particles_; ++i) log_w[i] += log_ratio_.data()[i];
}
}  // namespace mckean
