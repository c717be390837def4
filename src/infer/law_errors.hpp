// How well independent laws agree, and what finer steps change in them.
#pragma once

#include <span>

#include "law/law_track.hpp"

namespace mckean {

// The same law by steps of two sizes, from the same Brownian paths.
struct LawPairTrack {
  LawTrack fine, coarse;
};

// Standard deviations of a law (where it has none, the size of its mean), component by component, time by time: what
// errors are measured in. Those are root mean squares over the times, of the component that has the largest.
std::vector<double> law_scales(std::span<const LawPairTrack>, std::size_t components);

// From coarse to fine steps.
struct LawChange {
  double value = 0;    // of means, with their chance, or of standard deviations beyond it, whichever is more
  double error = 0;    // the chance of the means
  double clearly = 0;  // somewhere one of them has moved by at least so much
};
// Of at least two pairs that are independent.
LawChange change_by_steps(std::span<const LawPairTrack>, std::span<const double> scales, std::size_t components);

// The standard deviation of the mean of one law, by at least two that are independent.
double chance_of_means(std::span<const LawTrack>, std::span<const double> scales, std::size_t components);
}  // namespace mckean
