#include "engine/particles/path_kernel.hpp"

#include <algorithm>
#include <cassert>

#include "mckean/error.hpp"

namespace mckean {
namespace {

// Whether the increments of a path determine the normals behind them.
bool noise_from_path(const Model& model) {
  std::size_t used = 0;
  for (std::size_t s = 0; s < model.noise_sources(); ++s)
    used += std::ranges::any_of(model.components(), [&](const Component& c) { return !c.diffusion[s].is_number(0); });
  return static_cast<std::ptrdiff_t>(used) <= std::ranges::count_if(model.components(), &Component::noisy);
}

KernelOptions checked(const Model& model, KernelOptions o) {
  if (o.particles < 2) throw SettingError("particles must be at least 2: one of them is the reference path");
  if (!can_sample_backward(model)) o.smoother = Smoother::genealogy;
  if (!noise_from_path(model)) o.ahead.reset();
  return o;
}
}  // namespace

KernelNoise::KernelNoise(std::uint64_t seed, std::uint32_t replicate, std::uint32_t iteration)
    : start(seed, replicate, iteration, Purpose::filter_start),
      path(seed, replicate, iteration, Purpose::filter),
      resample(seed, replicate, iteration, Purpose::resample),
      trace(seed, replicate, iteration, Purpose::trace) {}

PathKernel::PathKernel(const System& system, const Observation& observation, std::span<const Schedule* const> levels,
                       const KernelOptions& options, std::unique_ptr<AncestorDraw> draw, const Kernels& kernels)
    : system_(system),
      options_(checked(system.model(), options)),
      kernels_(kernels),
      draw_(std::move(draw)),
      weights_(levels.size()),
      index_(levels.size()) {
  assert(levels.size() == 1 || (levels.size() == 2 && !options_.ahead));
  const auto M = static_cast<std::uint32_t>(options_.particles);
  sides_.reserve(levels.size());
  single_.reserve(levels.size());
  for (const Schedule* schedule : levels) {
    sides_.emplace_back(system, observation, *schedule, FilterOptions{M, options_.precision, options_.ahead}, kernels);
    single_.emplace_back(system, observation, *schedule, FilterOptions{1, options_.precision}, kernels);
    ancestors_.emplace_back(M, M - 1);
  }
  u_.resize(draw_->uniforms() * M);
}

void PathKernel::set_law(std::size_t level, const LawPath& law, std::span<const double> theta) {
  sides_[level].set_law(law, theta);
}

PathKernel::SeriesNoise::SeriesNoise(const NoiseOrigin& origin, std::size_t particles, std::size_t levels)
    : fine_(origin, particles, levels > 1 ? FreshNoise::Buffer::pairs : FreshNoise::Buffer::blocks) {
  if (levels > 1) coarse_.emplace(fine_, particles);
}

// Normals of a series begin behind those of the series before it.
NoiseOrigin PathKernel::origin(std::size_t series, const Stream& stream) const {
  const std::size_t first = series * single_[0].schedule().grid.steps();
  return {kernels_, options_.precision, stream, first, system_.model().noise_sources()};
}

std::vector<Path> PathKernel::empty_paths() const {
  std::vector<Path> paths;
  for (const FilterLevel& level : single_)
    paths.emplace_back(system_.model().dimension(), level.schedule().grid.steps() + 1);
  return paths;
}

// The number of a stop among those of all series.
std::uint32_t PathKernel::number_of(std::size_t series, std::size_t stop) const {
  const std::size_t points = single_[0].schedule().grid.steps() + 1;
  return static_cast<std::uint32_t>(series * points + sides_[0].stops()[stop]);
}

// Always where something is observed; at a random start so that backward sampling may choose among all of them.
bool PathKernel::resamples(std::size_t series, std::size_t stop) const {
  if (stop > 0) return true;
  const Schedule& schedule = single_[0].schedule();
  const auto& first = schedule.stops[series].front();
  if (first.point == 0 && schedule.observed(series, first)) return true;
  const bool random =
      std::ranges::any_of(system_.model().components(), [](const Component& c) { return c.start_sd > 0; });
  return random && options_.smoother == Smoother::backward;
}

std::optional<std::vector<Path>> PathKernel::first_paths(std::size_t series, const KernelNoise& noise) {
  SeriesNoise normals(origin(series, noise.path), 1, single_.size());
  std::vector<Path> paths = empty_paths();
  std::vector<DrivenLevel> levels;
  for (std::size_t l = 0; l < single_.size(); ++l) {
    single_[l].set_law(sides_[l].level().law(), sides_[l].level().theta());
    single_[l].begin(series, noise.start);
    levels.push_back({single_[l], normals.of(l), &paths[l]});
    levels[l].record(0);
  }
  const std::size_t last = single_.back().schedule().stops[series].back().point;
  const LawStatus status = run_filter(levels, std::array{last}, [&](std::size_t) {
    for (FilterLevel& level : single_) level.arrive(level.schedule().stops[series].back().point);
  });
  if (status != LawStatus::good) return std::nullopt;
  return paths;
}

std::optional<std::vector<Path>> PathKernel::step(std::size_t series, std::span<const Path* const> paths,
                                                  const KernelNoise& noise) {
  SeriesNoise normals(origin(series, noise.path), options_.particles, sides_.size());
  std::vector<DrivenLevel> levels;
  for (std::size_t l = 0; l < sides_.size(); ++l) {
    sides_[l].begin(series, *paths[l], noise.start);
    levels.push_back({sides_[l].level(), normals.of(l)});
  }
  const LawStatus status =
      run_filter(levels, sides_.back().stops(), [&](std::size_t v) { at_stop(v, series, noise.resample); });
  if (status != LawStatus::good) return std::nullopt;
  trace_back(series, noise.trace, normals);
  std::vector<Path> next = empty_paths();
  for (std::size_t l = 0; l < sides_.size(); ++l) sides_[l].write(next[l], *paths[l], normals.of(l));
  return next;
}

// Weighs and resamples all but the references. At the last stop the draw is set for the particle that is traced back.
void PathKernel::at_stop(std::size_t v, std::size_t series, const Stream& resample) {
  for (FilterSide& side : sides_) side.arrive(v);
  const bool last = v + 1 == sides_[0].stops().size();
  if (!last && !resamples(series, v)) {
    for (FilterSide& side : sides_) side.keep(v);
    return;
  }
  for (std::size_t l = 0; l < sides_.size(); ++l) weights_[l] = sides_[l].weights(v);
  draw_->set(weights_);
  if (last) return;
  uniforms(resample, number_of(series, v), 0, u_.size(), u_.data());
  for (std::size_t i = 0; i + 1 < options_.particles; ++i) {
    draw_->draw(u_.data() + i * draw_->uniforms(), index_);
    for (std::size_t l = 0; l < sides_.size(); ++l) ancestors_[l][i] = index_[l];
  }
  for (std::size_t l = 0; l < sides_.size(); ++l) sides_[l].resample(v, ancestors_[l]);
}

void PathKernel::choose(std::size_t v, std::size_t series, const Stream& trace) {
  uniforms(trace, number_of(series, v), 0, draw_->uniforms(), u_.data());
  draw_->draw(u_.data(), index_);
  for (std::size_t l = 0; l < sides_.size(); ++l) sides_[l].choose(v, index_[l]);
}

void PathKernel::trace_back(std::size_t series, const Stream& trace, SeriesNoise& normals) {
  const std::size_t last = sides_[0].stops().size() - 1;
  choose(last, series, trace);
  for (std::size_t v = last; v-- > 0;) {
    if (options_.smoother == Smoother::backward && sides_[0].resampled(v)) {
      for (std::size_t l = 0; l < sides_.size(); ++l) weights_[l] = sides_[l].backward_weights(v, normals.of(l));
      draw_->set(weights_);
      choose(v, series, trace);
    } else {
      for (FilterSide& side : sides_) side.choose(v, side.ancestor(v));
    }
  }
}
}  // namespace mckean
