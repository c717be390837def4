// Whether a filter's particles should look ahead, by what the likelihood says.
#pragma once

#include <functional>
#include <optional>

#include "mckean/engine.hpp"

namespace mckean {

// Of so many independent values of log p̂.
struct Spread {
  double mean, variance;
  std::size_t count;
};

// The effort with the best proposal. log p̂ is about half its variance below log p, so of proposals with equal work that
// one is best whose values are highest and vary least. The model's own steps are left only for a gain that is more than
// its standard error; where their values have little noise, nothing else is tried. `spread`: at an effort, none where a
// value failed.
Effort with_best_proposal(const Engine&, const Effort&,
                          const std::function<std::optional<Spread>(const Effort&)>& spread);
}  // namespace mckean
