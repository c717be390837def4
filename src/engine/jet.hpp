// Value, first and second derivatives of one number in q parameters.
//
// Entries (a, b) with 0 <= a <= b <= q, where 0 stands for no derivative: (0, 0) is the value, (0, b) = ∂_b,
// (a, b) = ∂_a ∂_b. Ordered by b, so that the jet in the first parameters alone is the beginning of the whole jet.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mckean {

constexpr std::size_t jet_index(std::size_t a, std::size_t b) {
  return std::max(a, b) * (std::max(a, b) + 1) / 2 + std::min(a, b);
}
constexpr std::size_t jet_size(std::size_t parameters) { return (parameters + 1) * (parameters + 2) / 2; }

// f(a, b) for every entry, in order.
template <class F>
void for_each_entry(std::size_t parameters, F&& f) {
  for (std::size_t b = 0; b <= parameters; ++b)
    for (std::size_t a = 0; a <= b; ++a) f(a, b);
}
}  // namespace mckean
