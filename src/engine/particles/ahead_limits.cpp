#include "engine/particles/ahead_limits.hpp"

#include <fmt/format.h>

namespace mckean {
namespace {

// Each particle has a matrix of its own, whose factors are written out.
constexpr std::size_t kMostSources = 16, kMostSeen = 16;
}  // namespace

std::optional<std::string> refuses_ahead(const Model& model) {
  if (model.noise_sources() <= kMostSources && model.observed().size() <= kMostSeen) return {};
  return fmt::format(
      "particles look ahead with at most {} sources of noise and {} observed columns, and this model has {} and {}",
      kMostSources, kMostSeen, model.noise_sources(), model.observed().size());
}
}  // namespace mckean
