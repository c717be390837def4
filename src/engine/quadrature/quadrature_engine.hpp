// Exact likelihoods of states in blocks of one component, by densities on grids.
#pragma once

#include "engine/quadrature/quadrature.hpp"
#include "mckean/engine.hpp"

namespace mckean {

class QuadratureEngine : public Engine {
 public:
  explicit QuadratureEngine(const Problem& problem, Accuracy accuracy = {})
      : problem_(problem), quadrature_(problem, 0, accuracy), accuracy_(accuracy) {}
  static std::optional<std::string> refuses(const Problem&);

  std::string_view name() const override { return "quadrature"; }
  bool exact() const override { return true; }
  Scheme scheme() const override { return quadrature_.best_scheme(); }
  Order serves() const override { return Order::information; }
  const std::vector<Parameter>& parameters() const override { return problem_.model().parameters(); }
  // The law moves along with the filters: nothing is drawn beforehand.
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override {
    return std::make_shared<const Law>(theta);
  }
  Outcome evaluate(const Law&, Order, Draw, const Request&) const override;
  bool smooths() const override { return true; }
  std::optional<Result<States>> states(const Law&, const Request&) const override;

 private:
  Problem problem_;
  Quadrature quadrature_;
  Accuracy accuracy_;
};
}  // namespace mckean
