// Derivatives and maxima of smooth deterministic functions that are known to nearly full precision.
#pragma once

#include <Eigen/Dense>
#include <functional>

namespace oracle {

using Function = std::function<double(const Eigen::VectorXd&)>;

// Finite difference steps that suit parameters whose scale is their own size.
Eigen::VectorXd default_steps(const Eigen::VectorXd& theta);

// Central differences of order 8. Evaluations for n parameters: 8 n for the gradient, 4 n (n + 1) + 1 for the
// Hessian, which takes second differences along e_i and e_i + e_j.
Eigen::VectorXd gradient(const Function& f, const Eigen::VectorXd& theta, const Eigen::VectorXd& steps);
Eigen::VectorXd gradient(const Function& f, const Eigen::VectorXd& theta);

Eigen::MatrixXd hessian(const Function& f, const Eigen::VectorXd& theta, const Eigen::VectorXd& steps);
Eigen::MatrixXd hessian(const Function& f, const Eigen::VectorXd& theta);

struct Maximum {
  Eigen::VectorXd theta;
  double value = 0;
  Eigen::MatrixXd information;     // minus the Hessian at theta
  Eigen::VectorXd standard_error;  // square roots of the diagonal of its inverse
  int iterations = 0;
  bool converged = false;  // the last Newton step was below 1e-5 standard errors, so theta errs by its square
};

// Newton's method with halved steps; the differences are scaled by the curvature as soon as it is known.
// f may be -inf or NaN outside its domain, but not within a few steps of the path to the maximum.
Maximum maximise(const Function& f, Eigen::VectorXd theta, int max_iterations = 50);

}  // namespace oracle
