#include "engine/particles/weights.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {

WeightSum exponentiate(double* log_w, std::size_t n, const Kernels& kernels) {
  const double largest = kernels.largest(log_w, n);
  if (!std::isfinite(largest)) return {0, largest, 0};
  alignas(64) double shift[kLanes];
  std::fill_n(shift, kLanes, largest);
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  const Source w{log_w, 1};
  kernels.run[static_cast<std::size_t>(Instr::sub)](log_w, nullptr, w, {shift, 0}, w, padded);
  kernels.run[static_cast<std::size_t>(Instr::exp)](log_w, nullptr, w, w, w, padded);
  double sum[kLanes] = {}, squares = 0;
  kernels.sum(log_w, n, sum);
  for (std::size_t i = 0; i < n; ++i) squares += log_w[i] * log_w[i];
  return {((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7])), largest, squares};
}

void systematic_resample(std::span<const double> weights, double sum, double u, std::span<std::uint32_t> ancestors) {
  const double step = sum / static_cast<double>(ancestors.size());
  double cumulated = 0, threshold = u * step;
  std::size_t a = 0;
  const std::size_t last = weights.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    cumulated += weights[i];
    while (a < ancestors.size() && (threshold < cumulated || i == last)) {
      ancestors[a++] = static_cast<std::uint32_t>(i);
      threshold = (static_cast<double>(a) + u) * step;
    }
  }
}
}  // namespace mckean
