#include "engine/particles/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mckean/error.hpp"

namespace mckean {

bool can_sample_backward(const Model& model) {
  return std::ranges::all_of(model.components(), [](const Component& c) { return c.noisy; });
}

Smoother smoother_for(const Model& model, std::optional<Smoother> wanted) {
  const bool can = can_sample_backward(model);
  if (wanted == Smoother::backward && !can) {
    const auto quiet = std::ranges::find_if(model.components(), [](const Component& c) { return !c.noisy; });
    throw InputError(fmt::format(
        "--smoother backward: '{}' has no noise of its own, so that no other ancestor can lead to the next point; use "
        "--smoother genealogy",
        quiet->name));
  }
  return wanted.value_or(can ? Smoother::backward : Smoother::genealogy);
}

KernelNoise::KernelNoise(std::uint64_t seed, std::uint32_t replicate, std::uint32_t iteration)
    : start(seed, replicate, iteration, Purpose::filter_start),
      path(seed, replicate, iteration, Purpose::filter),
      resample(seed, replicate, iteration, Purpose::resample),
      trace(seed, replicate, iteration, Purpose::trace) {}

namespace {

Path empty_path(const Model& model, const Grid& grid) { return {model.dimension(), grid.steps() + 1}; }

// Normals of a series begin behind those of the series before it.
NoiseOrigin path_noise(const Kernels& kernels, const KernelOptions& o, const Stream& stream, const Grid& grid,
                       std::size_t series, const Model& model) {
  return {kernels, o.precision, stream, series * grid.steps(), model.noise_sources()};
}

// The number of a stop among those of all series.
std::uint32_t number_of(const Grid& fine, std::size_t series, std::size_t point) {
  return static_cast<std::uint32_t>(series * (fine.steps() + 1) + point);
}

// Whether the particles of a stop are resampled: always where something is observed; at a random start so that
// backward sampling may choose among all of them.
bool resamples(const Model& model, const Schedule& schedule, const KernelOptions& o, std::size_t series,
               std::size_t stop) {
  if (stop > 0) return true;
  const auto& first = schedule.stops[series].front();
  if (first.point == 0 && schedule.observed(series, first)) return true;
  const bool random = std::ranges::any_of(model.components(), [](const Component& c) { return c.start_sd > 0; });
  return random && o.smoother == Smoother::backward;
}

KernelOptions checked(const Model& model, KernelOptions o) {
  if (o.particles < 2) throw InputError("--particles must be at least 2: one of them is the reference path");
  if (!can_sample_backward(model)) o.smoother = Smoother::genealogy;
  return o;
}

void record(const Columns& x, std::size_t point, Path& path) {
  for (std::size_t c = 0; c < path.count(); ++c) path[c][point] = x[c][0];
}
}  // namespace

ConditionalFilter::ConditionalFilter(const System& system, const Observation& observation, const Schedule& schedule,
                                     const KernelOptions& options, const Kernels& kernels)
    : system_(system),
      schedule_(schedule),
      options_(checked(system.model(), options)),
      kernels_(kernels),
      side_(system, observation, schedule, options_.particles, options_.precision, kernels),
      single_(system, schedule.grid, 1, options_.precision, kernels) {}

std::optional<Path> ConditionalFilter::first_path(std::size_t series, const KernelNoise& noise) {
  FreshNoise fresh(path_noise(kernels_, options_, noise.path, schedule_.grid, series, system_.model()), 1);
  Path path = empty_path(system_.model(), schedule_.grid);
  single_.set_law(side_.law(), side_.parameters());
  single_.start(noise.start, static_cast<std::uint32_t>(series));
  record(single_.x(), 0, path);
  const std::size_t last = schedule_.stops[series].back().point;
  for (std::size_t k = 0; k < last; ++k) {
    if (single_.step(k, fresh) != LawStatus::good) return std::nullopt;
    record(single_.x(), k + 1, path);
  }
  single_.check_finite(last);
  return path;
}

std::optional<Path> ConditionalFilter::step(std::size_t series, const Path& path, const KernelNoise& noise) {
  const Grid& grid = schedule_.grid;
  FreshNoise fresh(path_noise(kernels_, options_, noise.path, grid, series, system_.model()), options_.particles);
  const auto M = static_cast<std::uint32_t>(options_.particles);
  std::vector<std::uint32_t> ancestors(M, M - 1);
  std::vector<double> u(M);

  side_.begin(series, path, noise.start);
  const std::size_t last = side_.stops() - 1;
  for (std::size_t v = 0;; ++v) {
    if (v > 0)
      for (std::size_t k = side_.point(v - 1); k < side_.point(v); ++k)
        if (side_.step(k, fresh) != LawStatus::good) return std::nullopt;
    const auto weights = side_.arrive(v);
    if (v == last || resamples(system_.model(), schedule_, options_, series, v)) categorical_.set(weights);
    if (v == last) break;
    if (!resamples(system_.model(), schedule_, options_, series, v)) continue;
    uniforms(noise.resample, number_of(grid, series, side_.point(v)), 0, M, u.data());
    for (std::uint32_t i = 0; i + 1 < M; ++i) ancestors[i] = categorical_.draw(u[i]);
    side_.resample(v, ancestors);
  }

  const auto trace = [&](std::size_t v) { return uniform(noise.trace, number_of(grid, series, side_.point(v)), 0); };
  side_.choose(last, categorical_.draw(trace(last)));
  for (std::size_t v = last; v-- > 0;) {
    if (options_.smoother == Smoother::backward && side_.resampled(v)) {
      categorical_.set(side_.backward_weights(v, fresh));
      side_.choose(v, categorical_.draw(trace(v)));
    } else {
      side_.choose(v, side_.ancestor(v));
    }
  }
  Path next = empty_path(system_.model(), grid);
  side_.write(next, path, fresh);
  return next;
}

CoupledFilter::CoupledFilter(const System& system, const Observation& observation, const Schedule& fine,
                             const Schedule& coarse, const KernelOptions& options, std::unique_ptr<Coupling> coupling,
                             const Kernels& kernels)
    : system_(system),
      fine_schedule_(fine),
      coarse_schedule_(coarse),
      options_(checked(system.model(), options)),
      coupling_(std::move(coupling)),
      kernels_(kernels),
      fine_(system, observation, fine, options_.particles, options_.precision, kernels),
      coarse_(system, observation, coarse, options_.particles, options_.precision, kernels),
      single_fine_(system, fine.grid, 1, options_.precision, kernels),
      single_coarse_(system, coarse.grid, 1, options_.precision, kernels) {}

void CoupledFilter::set_laws(const LawPath& fine, const LawPath& coarse, std::span<const double> theta,
                             std::span<const double> coarse_theta) {
  fine_.set_law(fine, theta);
  coarse_.set_law(coarse, coarse_theta);
}

std::optional<CoupledFilter::Pair> CoupledFilter::first_paths(std::size_t series, const KernelNoise& noise) {
  const Model& model = system_.model();
  FreshNoise upper(path_noise(kernels_, options_, noise.path, fine_schedule_.grid, series, model), 1,
                   FreshNoise::Hold::pairs);
  CoarseNoise lower(upper, 1);
  Pair paths{empty_path(model, fine_schedule_.grid), empty_path(model, coarse_schedule_.grid)};
  single_fine_.set_law(fine_.law(), fine_.parameters());
  single_coarse_.set_law(coarse_.law(), coarse_.parameters());
  single_fine_.start(noise.start, static_cast<std::uint32_t>(series));
  single_coarse_.start(noise.start, static_cast<std::uint32_t>(series));
  record(single_fine_.x(), 0, paths.fine);
  record(single_coarse_.x(), 0, paths.coarse);
  const std::size_t last = coarse_schedule_.stops[series].back().point;
  for (std::size_t k = 0; k < last; ++k) {
    for (const std::size_t half : {2 * k, 2 * k + 1}) {
      if (single_fine_.step(half, upper) != LawStatus::good) return std::nullopt;
      record(single_fine_.x(), half + 1, paths.fine);
    }
    if (single_coarse_.step(k, lower) != LawStatus::good) return std::nullopt;
    record(single_coarse_.x(), k + 1, paths.coarse);
  }
  single_fine_.check_finite(2 * last);
  single_coarse_.check_finite(last);
  return paths;
}

std::optional<CoupledFilter::Pair> CoupledFilter::step(std::size_t series, const Pair& paths,
                                                       const KernelNoise& noise) {
  const Grid& grid = fine_schedule_.grid;
  FreshNoise upper(path_noise(kernels_, options_, noise.path, grid, series, system_.model()), options_.particles,
                   FreshNoise::Hold::pairs);
  CoarseNoise lower(upper, options_.particles);
  const auto M = static_cast<std::uint32_t>(options_.particles);
  std::vector<std::uint32_t> first(M, M - 1), second(M, M - 1);
  std::vector<double> u(3 * M);

  fine_.begin(series, paths.fine, noise.start);
  coarse_.begin(series, paths.coarse, noise.start);
  const std::size_t last = fine_.stops() - 1;
  for (std::size_t v = 0;; ++v) {
    if (v > 0)
      for (std::size_t k = coarse_.point(v - 1); k < coarse_.point(v); ++k) {
        for (const std::size_t half : {2 * k, 2 * k + 1})
          if (fine_.step(half, upper) != LawStatus::good) return std::nullopt;
        if (coarse_.step(k, lower) != LawStatus::good) return std::nullopt;
      }
    const auto weights = fine_.arrive(v), coarse_weights = coarse_.arrive(v);
    const bool draw = v == last || resamples(system_.model(), fine_schedule_, options_, series, v);
    if (draw) coupling_->set(weights, coarse_weights);
    if (v == last) break;
    if (!draw) continue;
    uniforms(noise.resample, number_of(grid, series, fine_.point(v)), 0, 3 * M, u.data());
    for (std::uint32_t i = 0; i + 1 < M; ++i)
      std::tie(first[i], second[i]) = coupling_->draw({u[3 * i], u[3 * i + 1], u[3 * i + 2]});
    fine_.resample(v, first);
    coarse_.resample(v, second);
  }

  const auto choose = [&](std::size_t v) {
    const std::uint32_t number = number_of(grid, series, fine_.point(v));
    const auto [i, j] = coupling_->draw(
        {uniform(noise.trace, number, 0), uniform(noise.trace, number, 1), uniform(noise.trace, number, 2)});
    fine_.choose(v, i);
    coarse_.choose(v, j);
  };
  choose(last);
  for (std::size_t v = last; v-- > 0;) {
    if (options_.smoother == Smoother::backward && fine_.resampled(v)) {
      coupling_->set(fine_.backward_weights(v, upper), coarse_.backward_weights(v, lower));
      choose(v);
    } else {
      fine_.choose(v, fine_.ancestor(v));
      coarse_.choose(v, coarse_.ancestor(v));
    }
  }
  Pair next{empty_path(system_.model(), grid), empty_path(system_.model(), coarse_schedule_.grid)};
  fine_.write(next.fine, paths.fine, upper);
  coarse_.write(next.coarse, paths.coarse, lower);
  return next;
}
}  // namespace mckean
