#include "engine/particles/categorical.hpp"

namespace mckean {

void Categorical::set(std::span<const double> weights) {
  const std::size_t n = weights.size();
  cumulated_.resize(n);
  guide_.resize(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    cumulated_[i] = sum += weights[i];
    if (weights[i] > 0) last_ = i;
  }
  std::size_t i = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double target = static_cast<double>(k) / static_cast<double>(n) * sum;
    while (cumulated_[i] <= target && i < last_) ++i;
    guide_[k] = static_cast<std::uint32_t>(i > 0 && k > 0 && cumulated_[i - 1] > target ? i - 1 : i);
  }
}
}  // namespace mckean
