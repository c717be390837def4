#include "engine/particles/filter_side.hpp"

#include <algorithm>
#include <numeric>

namespace mckean {
namespace {
std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
}  // namespace

FilterSide::FilterSide(const System& system, const Observation& observation, const Schedule& schedule,
                       std::size_t particles, NormalPrecision precision, const Kernels& kernels)
    : system_(system),
      schedule_(schedule),
      kernels_(kernels),
      dimension_(system.model().dimension()),
      particles_(system, schedule.grid, particles, precision, kernels),
      observation_(observation, particles, kernels),
      weights_(padded(particles)),
      target_(dimension_),
      own_(dimension_) {}

void FilterSide::set_law(const LawPath& law, std::span<const double> theta) {
  law_ = &law;
  theta_.assign(theta.begin(), theta.end());
  particles_.set_law(law, theta);
  observation_.set_parameters(theta);
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    transition_.emplace(dynamics_->transition, kernels_);
    replay_.emplace(dynamics_->replay, kernels_);
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
    xi_ = Columns(dynamics_->field.pairwise.size(), particles());
    one_xi_.resize(xi_.count());
    std::size_t most = 1;
    for (const auto& s : schedule_.stops) most = std::max(most, s.size());
    lanes_ = Columns(2 * dimension_ + 3 + law.inputs.count() + xi_.count() + dynamics_->sources, most);
  }
  transition_->set_fixed(theta);
  replay_->set_fixed(theta);
  if (pair_) pair_->set_parameters(theta);
}

void FilterSide::begin(std::size_t series, const Path& reference, const Stream& start) {
  series_ = series;
  reference_ = &reference;
  points_.assign(1, 0);
  for (const auto& stop : schedule_.stops[series])
    if (stop.point > 0) points_.push_back(stop.point);
  const std::size_t n = stops();
  endpoints_.resize(n);
  for (Columns& e : endpoints_)
    if (e.count() == 0) e = Columns(dimension_, particles());
  log_g_.assign(n, {});
  ancestors_.assign(n, {});
  resampled_.assign(n, false);
  chosen_.assign(n, 0);
  std::vector<std::uint32_t> same(particles());
  std::iota(same.begin(), same.end(), 0u);
  ancestors_[0] = std::move(same);  // until it is resampled
  particles_.start(start, static_cast<std::uint32_t>(series));
}

std::span<const double> FilterSide::arrive(std::size_t stop) {
  particles_.check_finite(points_[stop]);
  const std::size_t M = particles();
  for (std::size_t c = 0; c < dimension_; ++c) {
    particles_.x()[c][M - 1] = (*reference_)[c][points_[stop]];
    std::copy_n(particles_.x()[c], M, endpoints_[stop][c]);
  }
  std::fill_n(weights_.data(), padded(M), 1.0);
  const auto& stops_of_series = schedule_.stops[series_];
  const auto at = std::ranges::find(stops_of_series, points_[stop], &Schedule::Visit::point);
  if (at == stops_of_series.end() || !schedule_.observed(series_, *at)) return {weights_.data(), M};
  const auto values = schedule_.values(series_, *at);
  observation_.evaluate(schedule_.grid.time[at->point], values, particles_.x(), weights_.data());
  log_g_[stop].assign(weights_.data(), weights_.data() + M);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(log_g_[stop]) - log_g_[stop].begin());
  const WeightSum sum = exponentiate(weights_.data(), M, kernels_);
  // That the reference alone carries the weight is no failure: it is what the chain has found so far.
  const Weighing weighing{system_.model(), theta_, particles_.x(), M, values, best, sum};
  if (impossible(weighing)) describe(weighing, schedule_.where(series_, *at));
  return {weights_.data(), M};
}

void FilterSide::resample(std::size_t stop, std::span<const std::uint32_t> ancestors) {
  ancestors_[stop].assign(ancestors.begin(), ancestors.end());
  resampled_[stop] = true;
  particles_.select(ancestors);
}

// The first point of the segment that ends behind `stop`, into target_.
void FilterSide::next_point(std::size_t stop, NoiseSource& noise) {
  const bool is_reference = chosen_[stop + 1] + 1 == particles();
  const Lane lane{stop + 1, 1};
  if (!is_reference) {
    load_lanes({&lane, 1});
    replay_step(0, {&lane, 1}, noise);
  }
  for (std::size_t c = 0; c < dimension_; ++c)
    target_[c] = is_reference ? (*reference_)[c][points_[stop] + 1] : lanes_[c][0];
}

std::span<const double> FilterSide::backward_weights(std::size_t stop, NoiseSource& noise) {
  next_point(stop, noise);
  const std::size_t k = points_[stop], M = particles();
  const StepTime& step = schedule_.grid.step[k];
  std::vector<double> uniforms{step.t, step.flow, step.variance};
  law_->append_inputs(k, uniforms);
  uniforms.insert(uniforms.end(), target_.begin(), target_.end());
  transition_->set_uniforms(uniforms);
  if (pair_) pair_->many(*law_, k, step.t, endpoints_[stop], M, xi_);
  std::vector<const double*> in;
  endpoints_[stop].append_to(in);
  xi_.append_to(in);
  transition_->over(M, in, std::array{weights_.data()});
  if (!log_g_[stop].empty())
    for (std::size_t i = 0; i < M; ++i) weights_.data()[i] += log_g_[stop][i];
  exponentiate(weights_.data(), M, kernels_);
  return {weights_.data(), M};
}

// Segments begin where the chosen particle's ancestor ended; their states stand in the first columns of lanes_.
void FilterSide::load_lanes(std::span<const Lane> lanes) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t from = lanes[i].stop - 1;
    const std::uint32_t a = ancestor(from);
    for (std::size_t c = 0; c < dimension_; ++c) lanes_[c][i] = endpoints_[from][c][a];
  }
}

// One step of several segments at once, each at its own place in time.
void FilterSide::replay_step(std::size_t s, std::span<const Lane> lanes, NoiseSource& noise) {
  const std::size_t n = lanes.size(), d = dimension_, U = law_->inputs.count(), sources = dynamics_->sources;
  const std::size_t t_at = d, in_at = d + 3, xi_at = in_at + U, z_at = xi_at + xi_.count(), out_at = z_at + sources;
  spots_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = points_[lanes[i].stop - 1] + s;
    const StepTime& step = schedule_.grid.step[k];
    lanes_[t_at][i] = step.t, lanes_[t_at + 1][i] = step.flow, lanes_[t_at + 2][i] = step.root();
    for (std::size_t u = 0; u < U; ++u) lanes_[in_at + u][i] = law_->inputs[u][k];
    spots_.push_back({static_cast<std::uint32_t>(k), chosen_[lanes[i].stop]});
    if (pair_) {
      for (std::size_t c = 0; c < d; ++c) own_[c] = lanes_[c][i];
      pair_->one(*law_, k, step.t, own_, one_xi_);
      for (std::size_t p = 0; p < xi_.count(); ++p) lanes_[xi_at + p][i] = one_xi_[p];
    }
  }
  for (std::size_t j = 0; j < sources; ++j) noise.single(j, spots_, lanes_[z_at + j]);
  std::vector<const double*> in(out_at);
  std::vector<double*> out(d);
  for (std::size_t c = 0; c < out_at; ++c) in[c] = lanes_[c];
  for (std::size_t c = 0; c < d; ++c) out[c] = lanes_[out_at + c];
  replay_->over(n, in, out);
  for (std::size_t c = 0; c < d; ++c) std::copy_n(lanes_[out_at + c], n, lanes_[c]);
}

void FilterSide::write(Path& path, const Path& reference, NoiseSource& noise) {
  std::vector<Lane> lanes;
  for (std::size_t v = 1; v < stops(); ++v) {
    const std::size_t from = points_[v - 1], to = points_[v];
    if (chosen_[v] + 1 == particles()) {
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
  for (std::size_t v = 0; v < stops(); ++v)
    for (std::size_t c = 0; c < dimension_; ++c) path[c][points_[v]] = endpoints_[v][c][chosen_[v]];
}
}  // namespace mckean
