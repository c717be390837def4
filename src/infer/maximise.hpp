// Maximum likelihood by Newton's method on an exact likelihood.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "mckean/engine.hpp"
#include "paper/record.hpp"

namespace mckean {

struct Maximum {
  std::vector<double> theta;
  double loglik = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;  // −∂²log p/∂θ², the observed one
  int iterations = 0;
  bool converged = false;
  bool flat = false;                  // not converged because the likelihood does not change along some direction
  std::string message;                // why not
  std::vector<std::size_t> at_bound;  // parameters that lie on a bound, beyond which the likelihood would grow
  double work = 0;                    // of all evaluations
  int level = 0;                      // of the effort: a finer one where that of the request was too coarse
};
constexpr auto record_of(const Maximum*) {
  return record("maximum", &Maximum::theta, &Maximum::loglik, &Maximum::gradient, &Maximum::information,
                &Maximum::iterations, &Maximum::converged, &Maximum::flat, &Maximum::message, &Maximum::at_bound,
                &Maximum::work, &Maximum::level);
}

struct MaximiseOptions {
  Request request = {};  // effort, and the limit of each evaluation
  int most_iterations = 100;
  double tolerance = 1e-8;             // stops where the Newton step is shorter, in standard errors
  std::vector<std::size_t> held = {};  // parameters that stay at their start: the maximum over the others
  double most_work = 0;                // of all evaluations, after which it stops where it is; 0: no limit
  int finest = 0;  // level up to which an extrapolation goes on from finer ones where its own are too coarse
};

// In natural coordinates with the bounds as constraints, each step within a box that grows where the parabola predicts
// what is found and shrinks where it does not; uphill also where the likelihood is not concave. Observations that
// contradict the start are tempered first. A failure is that of the start, or steps that are too long on the way.
// Throws InputError where the start lies outside the bounds, and Stopped. Adds all work to `spent`, also where it
// fails.
Result<Maximum> maximise(const Engine&, const std::vector<double>& start, const MaximiseOptions& = {},
                         double* spent = nullptr);

// A request for an extrapolation from a finer level, with as much more work.
Request at_level(Request, int level);
// Whether such a request may help: the steps were too long, and there is a finer level.
bool finer_may_help(const Request&, const Failure&, int finest);
}  // namespace mckean
