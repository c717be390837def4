// The loop of every particle filter.
#pragma once

#include "engine/particles/filter_level.hpp"

namespace mckean {

// A level, what drives it, and where its first particle's path is written, if anywhere.
struct DrivenLevel {
  FilterLevel& level;
  NoiseSource& noise;
  Path* path = nullptr;

  LawStatus step(std::size_t k) {
    const LawStatus status = level.step(k, noise);
    if (path) record(k + 1);
    return status;
  }
  void record(std::size_t point) {
    for (std::size_t c = 0; c < path->count(); ++c) (*path)[c][point] = level.x()[c][0];
  }
};

// Levels from fine to coarse, each with every second grid point of the one before it, go together from stop to stop;
// `stops` are grid points of the coarsest. at_stop(v) weighs and resamples. Good, or window_left.
template <class AtStop>
LawStatus run_filter(std::span<DrivenLevel> levels, std::span<const std::size_t> stops, AtStop&& at_stop) {
  std::size_t at = 0;
  for (std::size_t v = 0; v < stops.size(); ++v) {
    for (; at < stops[v]; ++at)
      for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::size_t steps = std::size_t{1} << (levels.size() - 1 - l);  // in one of the coarsest level
        for (std::size_t i = 0; i < steps; ++i)
          if (levels[l].step(steps * at + i) != LawStatus::good) return LawStatus::window_left;
      }
    at_stop(v);
  }
  return LawStatus::good;
}
}  // namespace mckean
