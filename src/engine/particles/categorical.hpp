// Draws from a finite distribution, each in O(1) after O(n): inversion with a table of starting points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mckean {

class Categorical {
 public:
  // Weights >= 0, not all zero; they need not be normalised.
  void set(std::span<const double> weights);
  double total() const { return cumulated_.back(); }

  // u in (0, 1). An index of weight zero is never drawn.
  std::uint32_t draw(double u) const {
    const double target = u * total();
    std::size_t i = guide_[static_cast<std::size_t>(u * static_cast<double>(guide_.size()))];
    while (cumulated_[i] <= target && i + 1 < cumulated_.size()) ++i;
    return static_cast<std::uint32_t>(i > last_ ? last_ : i);
  }

 private:
  std::vector<double> cumulated_;
  std::vector<std::uint32_t> guide_;  // guide_[k]: no index before it can be drawn by u >= k / n
  std::size_t last_ = 0;              // the last index of positive weight, where rounding might lead past it
};
}  // namespace mckean
