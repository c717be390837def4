// Maximum likelihood by Newton's method on the exact likelihood of one level.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/quadrature/quadrature.hpp"

namespace mckean {

struct QuadratureMaximum {
  std::vector<double> theta;
  double loglik = 0;
  Eigen::MatrixXd information;     // −∂²log p/∂θ², the observed one
  Eigen::VectorXd standard_error;  // empty where the information is not positive definite
  int iterations = 0;
  bool converged = false;
  bool flat = false;                    // not converged because the likelihood does not change along some direction
  std::string message;                  // why not
  std::optional<std::size_t> at_bound;  // the parameter that runs into its bound, if that is why
  std::uint64_t grid_steps = 0;         // of all evaluations
};

struct MaximiseOptions {
  int most_iterations = 100;
  double tolerance = 1e-8;             // stops where the Newton step is shorter, in standard errors
  std::vector<std::size_t> held = {};  // parameters that stay at their start: the maximum over the others
};

// Newton's method on the line of unbounded parameters, uphill also where the likelihood is not concave, with steps that
// are halved until they climb. A start without a finite likelihood throws the NumericalError of that evaluation.
QuadratureMaximum maximise(const Quadrature&, const std::vector<double>& start, const MaximiseOptions& = {});
}  // namespace mckean
