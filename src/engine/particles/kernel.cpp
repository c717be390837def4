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
    throw SettingError(fmt::format(
        "smoother backward: '{}' has no noise of its own, so that no other ancestor can lead to the next point; use "
        "genealogies",
        quiet->name));
  }
  return wanted.value_or(can ? Smoother::backward : Smoother::genealogy);
}

ConditionalFilter::ConditionalFilter(const System& system, const Observation& observation, const Schedule& schedule,
                                     const KernelOptions& options, const Kernels& kernels)
    : kernel_(system, observation, std::array{&schedule}, options, std::make_unique<SingleDraw>(), kernels) {}

std::optional<Path> ConditionalFilter::first_path(std::size_t series, const KernelNoise& noise) {
  auto paths = kernel_.first_paths(series, noise);
  if (!paths) return std::nullopt;
  return std::move(paths->front());
}

std::optional<Path> ConditionalFilter::step(std::size_t series, const Path& path, const KernelNoise& noise) {
  auto paths = kernel_.step(series, std::array{&path}, noise);
  if (!paths) return std::nullopt;
  return std::move(paths->front());
}

namespace {

std::optional<CoupledFilter::Pair> as_pair(std::optional<std::vector<Path>> paths) {
  if (!paths) return std::nullopt;
  return CoupledFilter::Pair{std::move((*paths)[0]), std::move((*paths)[1])};
}
}  // namespace

CoupledFilter::CoupledFilter(const System& system, const Observation& observation, const Schedule& fine,
                             const Schedule& coarse, const KernelOptions& options, std::unique_ptr<Coupling> coupling,
                             const Kernels& kernels)
    : kernel_(system, observation, std::array{&fine, &coarse}, options,
              std::make_unique<CoupledDraw>(std::move(coupling)), kernels) {}

void CoupledFilter::set_laws(const LawPath& fine, const LawPath& coarse, std::span<const double> theta,
                             std::span<const double> coarse_theta) {
  kernel_.set_law(0, fine, theta);
  kernel_.set_law(1, coarse, coarse_theta);
}

std::optional<CoupledFilter::Pair> CoupledFilter::first_paths(std::size_t series, const KernelNoise& noise) {
  return as_pair(kernel_.first_paths(series, noise));
}

std::optional<CoupledFilter::Pair> CoupledFilter::step(std::size_t series, const Pair& paths,
                                                       const KernelNoise& noise) {
  return as_pair(kernel_.step(series, std::array{&paths.fine, &paths.coarse}, noise));
}
}  // namespace mckean
