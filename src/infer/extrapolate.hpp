// From the maximum of an Euler level to that of the diffusion: Newton's method on log-likelihoods that are extrapolated
// at fixed θ.
#pragma once

#include "infer/exact_maximum.hpp"

namespace mckean {

struct ExtrapolateOptions {
  int lowest = 2;                      // level to begin with
  int highest = 8;                     // that may be used
  std::vector<std::size_t> held = {};  // parameters that stay where they are
};

struct ExtrapolatedMaximum {
  ExactMaximum maximum;
  int lowest = 0, highest = 0;  // levels that were combined
  double doubt = 0;             // standard errors between this and the extrapolation from coarser levels
};

// None where a level has no likelihood, or Newton's steps do not end.
std::optional<ExtrapolatedMaximum> extrapolate(ExactTasks&, const ExactMaximum& from, const ExtrapolateOptions&);
}  // namespace mckean
