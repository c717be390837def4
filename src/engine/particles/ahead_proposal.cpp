#include "engine/particles/ahead_proposal.hpp"

#include <algorithm>
#include <cmath>

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
    aimer_.emplace(dynamics_->model, ahead_, schedule_, options_, kernels_);
    miss_ = Frame(ahead_->miss, kernels_);
    steer_ = Frame(ahead_->steer, kernels_);
    departed_ = Columns(forecaster_->columns(), particles_);
  }
  forecaster_->set_law(law, theta);
  aimer_->set_parameters(theta);
  miss_.set_fixed(theta);
  steer_.set_fixed(theta);
}

void AheadProposal::begin(std::size_t series) {
  series_ = series;
  opening_.assign(schedule_.grid.steps() + 1, {});
  aim_.assign(schedule_.grid.steps(), {});
}

std::vector<double> AheadProposal::mean_of(const Columns& x, const double* log_w) const {
  const double largest = kernels_.largest(log_w, particles_);
  std::vector<double> mean(x.count());
  double total = 0;
  for (std::size_t i = 0; i < particles_; ++i) {
    const double w = std::isfinite(largest) ? std::exp(log_w[i] - largest) : 1;
    total += w;
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += w * x[c][i];
  }
  for (double& m : mean) m /= total;
  return mean;
}

void AheadProposal::add_log_psi(const Aim& aim, const Columns& x, double sign, double* log_w) {
  in_.clear();
  for (std::size_t c = 0; c < ahead_->dimension; ++c) in_.push_back(x[c]);
  miss_.set_uniforms(aim.uniforms);
  miss_.over(particles_, in_, std::array{misses_.data()});
  for (std::size_t i = 0; i < particles_; ++i) {
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
  std::vector<Aim> aims = aimer_->aims(*forecaster_, series_, point, *next, mean_of(x, log_w));
  opening_[point] = std::move(aims[0]);
  std::move(aims.begin() + 1, aims.end(), aim_.begin() + static_cast<std::ptrdiff_t>(point));
  if (opening_[point]) add_log_psi(opening_[point], forecaster_->flow(point, next->point, x, particles_), 1, log_w);
}

LawStatus AheadProposal::propose(std::size_t k, const Columns& from, Columns& to, NoiseSource& noise) {
  const Aim& aim = aim_[k];
  if (!aim) {
    std::fill_n(log_ratio_.data(), log_ratio_.size(), 0.0);
    return plain_.propose(k, from, to, noise);
  }
  if (!plain_.inside_windows(k, from)) return LawStatus::window_left;
  forecaster_->depart(k, from, particles_, departed_);
  const Columns& there = forecaster_->carry(k + 1, aim.end, departed_, particles_);
  in_.clear(), out_.clear();
  std::as_const(departed_).append_to(in_);
  for (std::size_t c = 0; c < departed_.count(); ++c) in_.push_back(there[c]);
  to.append_to(out_);
  out_.push_back(log_ratio_.data());
  steer_.set_uniforms(aim.uniforms);
  steer_.over(particles_, in_, out_, ahead_->sources,
              [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  if (opening_[k]) add_log_psi(opening_[k], there, -1, log_ratio_.data());
  return LawStatus::good;
}

void AheadProposal::replay(std::span<const StepOfParticle>, Columns&, NoiseSource&) {}

void AheadProposal::weigh(std::size_t, const Columns&, const Columns&, double* log_w) {
  for (std::size_t i = 0; i < particles_; ++i) log_w[i] += log_ratio_.data()[i];
}
}  // namespace mckean
