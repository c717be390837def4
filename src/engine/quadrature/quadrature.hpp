// The exact likelihood of a model with a one-dimensional state at an Euler level, with N = M = ∞: law and filters are
// densities on grids, moved by the Gaussian kernel of the Euler step. Deterministic, and accurate to about 1e-10.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "engine/quadrature/transport.hpp"
#include "mckean/engine.hpp"
#include "mckean/error.hpp"
#include "mckean/problem.hpp"

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

// A pure function of θ; one object serves many threads.
class Quadrature {
 public:
  enum class Order { value, second };  // derivatives wanted: none, or first and second

  // Of a state of one component, with noise.
  Quadrature(const Problem&, int level, Accuracy = {});

  // The same problem otherwise; evaluations throw Stopped soon after a stop is requested.
  Quadrature with(int level, Accuracy, std::stop_token = {}) const;

  // Derivatives are exact: tangents of the densities to second order, the law's own dependence on θ included.
  // Throws NumericalError: an observation that is impossible, a law that overflows, too large a grid. With `temper` < 1
  // every observation counts as that share of one, G^temper: a smoother likelihood, for finding a maximum from afar.
  // With `predictions` also the errors of one-step predictions.
  QuadratureValue value(std::span<const double> theta, Order = Order::second, double temper = 1,
                        bool predictions = false) const;
  // The same, or nothing where observations lie deep in the tails of what is predicted (then `value` costs much more).
  std::optional<QuadratureValue> plausible(std::span<const double> theta, Order = Order::second,
                                           double temper = 1) const;
  // Of every series at every row, given all observations.
  States states(std::span<const double> theta) const;

 private:
  struct Compiled;
  struct Parts;
  explicit Quadrature(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  QuadratureValue evaluate(std::span<const double> theta, Order, Accuracy, double temper, bool predictions) const;
  // The value of f(accuracy), with tails as wide as it needs.
  template <class F>
  auto with_tails(std::span<const double> theta, F&& f) const;

  std::shared_ptr<const Parts> parts_;
};
}  // namespace mckean
