// A law looked at now and then: means and variances of its particles.
#pragma once

#include "law/law.hpp"

namespace mckean {

// Component by component, time by time. Empty where the dynamics explode.
struct LawTrack {
  std::vector<double> mean, variance;  // over its particles
};

// Writes a law of a model at these points of its grid, in their order, into a track.
LawWatcher track_writer(const Model&, std::vector<std::size_t> points, LawTrack&);
}  // namespace mckean
