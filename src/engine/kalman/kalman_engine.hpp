// Exact likelihoods of linear models with normal noise, by Kalman filters.
#pragma once

#include "engine/kalman/linear_formulas.hpp"
#include "mckean/engine.hpp"

namespace mckean {

class KalmanEngine : public Engine {
 public:
  explicit KalmanEngine(const Problem& problem)
      : problem_(problem), plain_(problem.model(), false), second_(problem.model(), true) {}
  static std::optional<std::string> refuses(const Problem&);

  std::string_view name() const override { return "kalman"; }
  bool exact() const override { return true; }
  bool continuous() const override { return plain_.constant(); }
  Order serves() const override { return Order::information; }
  const std::vector<Parameter>& parameters() const override { return problem_.model().parameters(); }
  // The law's mean moves along with the filters: nothing is computed beforehand.
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override {
    return std::make_shared<const Law>(theta);
  }
  Outcome evaluate(const Law&, Order, Draw, const Request&) const override;
  bool smooths() const override { return true; }
  std::optional<Result<States>> states(const Law&, const Request&) const override;

 private:
  Problem problem_;
  LinearFormulas plain_, second_;  // without and with derivatives
};
}  // namespace mckean
