#include "engine/particles/filter_level.hpp"

#include <algorithm>
#include <cmath>

#include "engine/particles/ahead_proposal.hpp"

namespace mckean {
namespace {
std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
}  // namespace

FilterLevel::FilterLevel(const System& system, const Observation& observation, const Schedule& schedule,
                         const FilterOptions& options, const Kernels& kernels, std::unique_ptr<Proposal> proposal)
    : system_(system),
      schedule_(schedule),
      options_(options),
      kernels_(kernels),
      observation_(observation, options.particles, kernels),
      proposal_(std::move(proposal)),
      w_(padded(options.particles)) {
  if (!proposal_ && options.ahead)
    proposal_ = std::make_unique<AheadProposal>(system, schedule, options.particles, *options.ahead, kernels);
  if (!proposal_) proposal_ = std::make_unique<PlainProposal>(schedule.grid, options.particles, kernels);
  for (Columns& x : x_) x = Columns(system.model().dimension(), options.particles);
}

void FilterLevel::set_law(const LawPath& law, std::span<const double> theta) {
  law_ = &law;
  theta_.assign(theta.begin(), theta.end());
  proposal_->set_law(law, theta);
  observation_.set_parameters(theta);
}

void FilterLevel::begin(std::size_t series, const Stream& start, const Path* reference) {
  reference_ = reference;
  now_ = 0;
  fill_start(system_.model(), kernels_, options_.precision, start, static_cast<std::uint32_t>(series), particles(),
             x_[0]);
  proposal_->begin(series, reference != nullptr);
  if (!proposal_->weighs()) return;
  carried_ = AlignedBuffer(padded(particles()));
  std::fill_n(w_.data(), w_.size(), 0.0);
}

void FilterLevel::place_reference(std::size_t point) {
  for (std::size_t c = 0; c < x().count(); ++c) x_[now_][c][particles() - 1] = (*reference_)[c][point];
}

void FilterLevel::weigh_step(std::size_t k) {
  if (reference_) {
    place_reference(k + 1);
    proposal_->displaced(k, x_[1 - now_], x_[now_], particles() - 1);
  }
  proposal_->weigh(k, x_[1 - now_], x_[now_], carried_.data());
}

void FilterLevel::arrive(std::size_t point) {
  double lanes[kLanes] = {};
  for (std::size_t c = 0; c < x().count(); ++c) kernels_.sum(x()[c], particles(), lanes);
  if (!std::ranges::all_of(lanes, [](double v) { return std::isfinite(v); }))
    report_overflow(system_.model(), theta_, schedule_.grid.level, schedule_.grid.time[point],
                    "the filter's particles");
  if (reference_) place_reference(point);
}

std::span<const double> FilterLevel::weigh(std::size_t point, std::span<const double> values, double temper) {
  const bool observed = std::ranges::any_of(values, [](double v) { return !std::isnan(v); });
  double* w = w_.data();
  if (observed)
    observation_.evaluate(schedule_.grid.time[point], values, x(), w);
  else
    std::fill_n(w, padded(particles()), 0.0);
  if (observed && temper != 1)
    for (std::size_t i = 0; i < particles(); ++i) w[i] *= temper;
  if (proposal_->weighs())
    for (std::size_t i = 0; i < particles(); ++i) w[i] += carried_.data()[i];
  return observed || proposal_->weighs() ? weights() : std::span<const double>();
}

WeightSum FilterLevel::normalise(std::size_t point, bool last) {
  if (proposal_->weighs() && !last) proposal_->first_stage(point, x(), w_.data());
  return exponentiate(w_.data(), particles(), kernels_);
}

void FilterLevel::resample(std::span<const std::uint32_t> ancestors) {
  for (std::size_t c = 0; c < x().count(); ++c)
    for (std::size_t i = 0; i < particles(); ++i) x_[1 - now_][c][i] = x_[now_][c][ancestors[i]];
  now_ = 1 - now_;
  std::fill_n(carried_.data(), carried_.size(), 0.0);
}

void FilterLevel::keep_weights(std::size_t point) {
  if (!proposal_->weighs()) return;
  std::copy_n(w_.data(), particles(), carried_.data());
  proposal_->first_stage(point, x(), carried_.data());
}
}  // namespace mckean
