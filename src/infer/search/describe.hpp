// What a search has found, in the terms of the parameters: estimates, errors, intervals, and what is to be said of
// them.
#pragma once

#include "infer/search/rounds.hpp"
#include "infer/search/search.hpp"

namespace mckean::search {

struct Reached {
  std::span<const Parameter> parameters;
  const Box& box;
  const Rounds* rounds;  // none where it did not come so far
  LocalMaximum best;
  std::vector<LocalMaximum> others;         // of comparable likelihood
  std::vector<std::optional<double>> ends;  // distances in the order of guessed_ends; empty where they were not sought
};

// Adds to what the search has noted of itself.
void describe(const Reached&, Found&);
}  // namespace mckean::search
