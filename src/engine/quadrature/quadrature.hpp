// The exact likelihood of a model whose blocks have one component each, at a level of steps, with N = M = ∞: laws and
// filters are densities on grids, moved by the Gaussian kernel of a step. Deterministic, and accurate to about
// 1e-10.
#pragma once

#include <memory>

#include "engine/quadrature/quadrature_value.hpp"
#include "engine/quadrature/transport.hpp"
#include "mckean/engine.hpp"

namespace mckean {

// A pure function of θ; one object serves many threads.
class Quadrature {
 public:
  enum class Order { value, second };  // derivatives wanted: none, or first and second

  // Of a state in blocks of one component each, with noise.
  Quadrature(const Problem&, int level, Accuracy = {});

  // The same problem otherwise; evaluations throw Stopped soon after a stop is requested.
  Quadrature with(int level, Accuracy, std::stop_token = {}, Scheme = Scheme::euler) const;
  bool has_steps(Scheme) const;
  // Splitting steps take pairwise averages at their beginning alone, which costs them their order.
  Scheme best_scheme() const;

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
  // The value of f(accuracy) with tails as wide as it needs, which may be so many standard deviations: else none.
  template <class F>
  auto with_tails(double widest, F&& f) const -> std::optional<std::invoke_result_t<F, Accuracy>>;
  // As wide as numbers can be; throws NumericalError.
  template <class F>
  auto with_all_tails(std::span<const double> theta, F&& f) const;

  std::shared_ptr<const Parts> parts_;
};
}  // namespace mckean
