// A fit from start to end: the scale of the steps, the replicates, and the error bars.
#pragma once

#include <functional>

#include "estimate/information.hpp"
#include "estimate/multilevel.hpp"

namespace mckean {

// Runs task(0) .. task(count − 1), in any order, on as many threads as it likes.
using Executor = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

struct Interval {
  double std_error, lower, upper;  // 95 %, on the user's scale
};

struct FitResult {
  EstimateSummary estimate;
  std::vector<std::optional<Interval>> intervals;  // none where the information is not positive definite
  std::vector<std::string> warnings;
};

// The inverse of the complete-data information at the chain's start, on the line: steps of its size cannot overshoot.
// Directions that it does not determine get the inverse of its diagonal, and a warning. Throws NumericalError.
Eigen::MatrixXd complete_data_scale(const Problem&, const ChainOptions&, ChainIdentity, const Executor&,
                                    std::vector<std::string>& warnings, std::uint64_t& particle_steps);

// From the observed information at `theta`; made on the line, so that they respect bounds.
std::vector<std::optional<Interval>> intervals_at(const Problem&, ChainOptions, const std::vector<double>& theta,
                                                  ChainIdentity, const Executor&, std::vector<std::string>& warnings,
                                                  std::uint64_t& particle_steps);

FitResult fit(const Problem&, EstimatorOptions, std::size_t replicates, const Executor&);
}  // namespace mckean
