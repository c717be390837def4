// What densities on grids tell of a likelihood, or why they do not.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "mckean/error.hpp"

namespace mckean {

struct QuadratureValue {
  double loglik = 0;
  Eigen::VectorXd gradient;  // in θ; empty where only the value was asked for
  Eigen::MatrixXd hessian;
  std::uint64_t grid_steps = 0;           // Euler moves of one point of a grid
  double pairs = 0;                       // values of a pairwise kernel
  std::vector<double> prediction_errors;  // where asked for, as Evaluation has them
};

// The densities would need too large a grid, or too many moves.
struct TooMuchWork : NumericalError {
  using NumericalError::NumericalError;
};

// Euler's steps are so long that they pass a zero of the noise.
struct StepsTooLong : NumericalError {
  using NumericalError::NumericalError;
};
}  // namespace mckean
