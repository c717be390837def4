// Weights of particles, in logs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/kernels.hpp"

namespace mckean {

// w_i = exp(log_w_i − max), in place (the column is padded to kLanes). Returns the sum of w, the largest log weight
// and Σw²; a NaN or −∞ maximum leaves the weights undefined.
struct WeightSum {
  double sum, largest, squares;
  double effective() const { return sum * sum / squares; }  // between 1 and n
};
WeightSum exponentiate(double* log_w, std::size_t n, const Kernels&);

// Ancestors by systematic resampling with one uniform u: O(n), unbiased.
void systematic_resample(std::span<const double> weights, double sum, double u, std::span<std::uint32_t> ancestors);
}  // namespace mckean
