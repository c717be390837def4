// Richardson's extrapolation of Euler levels.
#pragma once

#include <span>

#include "mckean/engine.hpp"

namespace mckean {

// Euler's error has the powers Δ, Δ², …: of three levels, the coarsest first, (L_l − 6 L_{l+1} + 8 L_{l+2})/3 leaves
// Δ³. Values, gradients and information combine alike.
inline constexpr double kRichardson[] = {1.0 / 3, -2, 8.0 / 3};
inline constexpr int kRichardsonLevels = 3;

inline Evaluation richardson(std::span<const Evaluation> levels) {
  Evaluation out;
  out.gradient.assign(levels[0].gradient.size(), 0), out.information.assign(levels[0].information.size(), 0);
  for (std::size_t l = 0; l < kRichardsonLevels; ++l) {
    out.loglik += kRichardson[l] * levels[l].loglik;
    for (std::size_t i = 0; i < out.gradient.size(); ++i) out.gradient[i] += kRichardson[l] * levels[l].gradient[i];
    for (std::size_t i = 0; i < out.information.size(); ++i)
      out.information[i] += kRichardson[l] * levels[l].information[i];
  }
  return out;
}
}  // namespace mckean
