// The loop of every particle filter.
#pragma once

#include "engine/particles/filter_level.hpp"

namespace mckean {

// A level, what drives it, and where its first particle's path is written, if anywhere.
struct DrivenLevel {
  FilterLevel& level;
  NoiseSource& noise;
  Path* path = nullptr;

  void record(std::size_t point) {
    if (!path) return;
    for (std::size_t c = 0; c < path->count(); ++c) (*path)[c][point] = level.x()[c][0];
  }
};

// Levels from fine to coarse, each with every second grid point of the one before it, go together from stop to stop;
// `stops` are grid points of the coarsest. at_stop(v) weighs, and resamples or keeps the weights. Good, or window_left.
template <class AtStop>
LawStatus run_filter(std::span<DrivenLevel> levels, std::span<const std::size_t> stops, AtStop&& at_stop) {
  if (stops.front() > 0)
    for (const DrivenLevel& l : levels) l.level.keep_weights(0);
  std::size_t at = 0;
  for (std::size_t v = 0; v < stops.size(); ++v) {
    for (; at < stops[v]; ++at)
      for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::size_t steps = std::size_t{1} << (levels.size() - 1 - l);  // in one of the coarsest level
        for (std::size_t k = steps * at; k < steps * (at + 1); ++k) {
          if (levels[l].level.step(k, levels[l].noise) != LawStatus::good) return LawStatus::window_left;
          levels[l].record(k + 1);
        }
      }
    at_stop(v);
  }
  return LawStatus::good;
}
}  // namespace mckean
