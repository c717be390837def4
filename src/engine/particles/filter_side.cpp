#include "engine/particles/filter_side.hpp"

#include <algorithm>
#include <numeric>

#include "engine/particles/degeneracy.hpp"

namespace mckean {

FilterSide::FilterSide(const System& system, const Observation& observation, const Schedule& schedule,
                       const FilterOptions& options, const Kernels& kernels)
    : system_(system),
      schedule_(schedule),
      kernels_(kernels),
      dimension_(system.model().dimension()),
      level_(system, observation, schedule, options, kernels),
      backward_((options.particles + kLanes - 1) / kLanes * kLanes),
      target_(dimension_) {
  std::size_t most = 1;
  for (const auto& s : schedule_.stops) most = std::max(most, s.size());
  lanes_ = Columns(dimension_, most);
}

void FilterSide::set_law(const LawPath& law, std::span<const double> theta) {
  level_.set_law(law, theta);
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    transition_.emplace(dynamics_->transition, kernels_);
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
    xi_ = Columns(dynamics_->field.pairwise.size(), level_.particles());
  }
  transition_->set_fixed(theta);
  if (pair_) pair_->set_parameters(theta);
}

void FilterSide::begin(std::size_t series, const Path& reference, const Stream& start) {
  series_ = series;
  reference_ = &reference;
  points_.assign(1, 0);
  for (const auto& stop : schedule_.stops[series])
    if (stop.point > 0) points_.push_back(stop.point);
  const std::size_t n = points_.size();
  endpoints_.resize(n);
  for (Columns& e : endpoints_)
    if (e.count() == 0) e = Columns(dimension_, level_.particles());
  log_w_.assign(n, {});
  ancestors_.assign(n, {});
  resampled_.assign(n, false);
  chosen_.assign(n, 0);
  std::vector<std::uint32_t> same(level_.particles());
  std::iota(same.begin(), same.end(), 0u);
  ancestors_[0] = std::move(same);  // until it is resampled
  level_.begin(series, start, &reference);
}

std::optional<Schedule::Visit> FilterSide::observation(std::size_t stop) const {
  const auto& stops = schedule_.stops[series_];
  const auto at = std::ranges::find(stops, points_[stop], &Schedule::Visit::point);
  if (at == stops.end() || !schedule_.observed(series_, *at)) return std::nullopt;
  return *at;
}

void FilterSide::arrive(std::size_t stop) {
  level_.arrive(points_[stop]);
  for (std::size_t c = 0; c < dimension_; ++c) std::copy_n(level_.x()[c], level_.particles(), endpoints_[stop][c]);
  const auto visit = observation(stop);
  const auto log_w = level_.weigh(points_[stop], visit ? schedule_.values(series_, *visit) : std::span<const double>());
  log_w_[stop].assign(log_w.begin(), log_w.end());
}

std::span<const double> FilterSide::weights(std::size_t stop) {
  const WeightSum sum = level_.normalise(points_[stop], stop + 1 == points_.size());
  const auto visit = observation(stop);
  if (!visit) return level_.weights();
  // That the reference alone carries the weight is no failure: it is what the chain has found so far.
  const auto best = static_cast<std::size_t>(std::ranges::max_element(log_w_[stop]) - log_w_[stop].begin());
  const Weighing weighing{
      system_.model(), level_.theta(), level_.x(), level_.particles(), schedule_.values(series_, *visit), best, sum};
  if (impossible(weighing)) describe(weighing, schedule_.where(series_, *visit));
  return level_.weights();
}

void FilterSide::resample(std::size_t stop, std::span<const std::uint32_t> ancestors) {
  ancestors_[stop].assign(ancestors.begin(), ancestors.end());
  resampled_[stop] = true;
  level_.resample(ancestors);
}

// The first point of the segment that ends behind `stop`, into target_.
void FilterSide::next_point(std::size_t stop, NoiseSource& noise) {
  const Lane lane{stop + 1, 1};
  if (!is_reference(stop + 1)) {
    load_lanes({&lane, 1});
    replay_step(0, {&lane, 1}, noise);
  }
  for (std::size_t c = 0; c < dimension_; ++c)
    target_[c] = is_reference(stop + 1) ? (*reference_)[c][points_[stop] + 1] : lanes_[c][0];
}

std::span<const double> FilterSide::backward_weights(std::size_t stop, NoiseSource& noise) {
  next_point(stop, noise);
  const std::size_t k = points_[stop], M = level_.particles();
  const StepTime& step = schedule_.grid.step[k];
  std::vector<double> uniforms{step.t, step.flow, step.variance};
  level_.law().append_inputs(k, uniforms);
  uniforms.insert(uniforms.end(), target_.begin(), target_.end());
  transition_->set_uniforms(uniforms);
  if (pair_ && !pair_->many(level_.law(), k, step.t, endpoints_[stop], M, xi_)) report_unreadable(step.t);
  std::vector<const double*> in;
  std::as_const(endpoints_[stop]).append_to(in);
  std::as_const(xi_).append_to(in);
  transition_->over(M, in, std::array{backward_.data()});
  for (std::size_t i = 0; i < log_w_[stop].size(); ++i) backward_.data()[i] += log_w_[stop][i];
  exponentiate(backward_.data(), M, kernels_);
  return {backward_.data(), M};
}

// Segments begin where the chosen particle's ancestor ended.
void FilterSide::load_lanes(std::span<const Lane> lanes) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t from = lanes[i].stop - 1;
    const std::uint32_t a = ancestor(from);
    for (std::size_t c = 0; c < dimension_; ++c) lanes_[c][i] = endpoints_[from][c][a];
  }
}

// One step of several segments at once, each at its own place in time.
void FilterSide::replay_step(std::size_t s, std::span<const Lane> lanes, NoiseSource& noise) {
  replayed_.clear();
  for (const Lane& lane : lanes)
    replayed_.push_back({static_cast<std::uint32_t>(points_[lane.stop - 1] + s), chosen_[lane.stop]});
  level_.proposal().replay(replayed_, lanes_, noise);
}

void FilterSide::write(Path& path, const Path& reference, NoiseSource& noise) {
  std::vector<Lane> lanes;
  for (std::size_t v = 1; v < points_.size(); ++v) {
    const std::size_t from = points_[v - 1], to = points_[v];
    if (is_reference(v)) {
      for (std::size_t c = 0; c < dimension_; ++c)
        std::copy(reference[c] + from + 1, reference[c] + to + 1, path[c] + from + 1);
    } else {
      lanes.push_back({v, to - from});
    }
  }
  // Longest first: those still running are always the first ones.
  std::ranges::stable_sort(lanes, std::greater{}, &Lane::steps);
  load_lanes(lanes);
  for (std::size_t s = 0, n = lanes.size(); n > 0; ++s) {
    replay_step(s, std::span(lanes).first(n), noise);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < dimension_; ++c) path[c][points_[lanes[i].stop - 1] + s + 1] = lanes_[c][i];
    while (n > 0 && lanes[n - 1].steps == s + 1) --n;
  }
  for (std::size_t v = 0; v < points_.size(); ++v)
    for (std::size_t c = 0; c < dimension_; ++c) path[c][points_[v]] = endpoints_[v][c][chosen_[v]];
}
}  // namespace mckean
