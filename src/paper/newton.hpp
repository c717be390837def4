// The maximum and the observed information from scores at points around a first guess.
//
// The observed information is minus the derivative of E H, so differences of averaged scores a few standard errors
// apart give it. Louis' identity gives it too, as the small difference of two large matrices: where the complete data
// know r times as much as the observed ones, n iterations determine it to a relative error of r √(2/n), and the
// differences to √(r/3n). Louis' matrix is the first guess here, and sets how far apart the points are.
#pragma once

#include "paper/probe.hpp"

namespace mckean {

struct ScoreMaximum {
  Eigen::VectorXd u;            // where the score vanishes, in unconstrained coordinates
  Eigen::MatrixXd u_error;      // covariance of its Monte Carlo error
  Eigen::MatrixXd information;  // observed, in unconstrained coordinates; of free parameters, zero elsewhere
  Eigen::MatrixXd whitening;    // W with Wᵀ I W = 1: directions that the data determine, one a column
  // Directions that they do not: the information along them is not distinguished from zero.
  std::vector<Eigen::VectorXd> undetermined;
  double relative_error = 0;  // of the standard errors, the largest along any direction
  bool converged = false;     // it is at rest, along undetermined directions too
  Eigen::MatrixXd noise;      // variance of the mean score per iteration, from all points and rounds
};

// `place` is the first guess and says how chains are run there. Throws NumericalError.
ScoreMaximum find_maximum(Workbench&, const std::string& group, Place place, const Probe& first,
                          const std::vector<bool>& free);
}  // namespace mckean
