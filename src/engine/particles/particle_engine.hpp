// Likelihoods by particles: a law, then a bootstrap filter of each series given that law.
#pragma once

#include "engine/particles/ahead_limits.hpp"
#include "engine/particles/filter.hpp"
#include "engine/particles/particle_problem.hpp"
#include "engine/prediction.hpp"
#include "mckean/engine.hpp"

namespace mckean {

class ParticleEngine : public Engine {
 public:
  explicit ParticleEngine(ParticleProblem, NormalPrecision = NormalPrecision::single);

  std::string_view name() const override { return "particles"; }
  bool exact() const override { return false; }
  Order serves() const override { return Order::value; }
  const std::vector<Parameter>& parameters() const override { return problem_.model().parameters(); }
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override;
  // One unbiased estimate of p(y | θ); its logarithm.
  Outcome evaluate(const Law&, Order, Draw, const Request&) const override;
  LawKind law_kind() const override { return law_kind_; }
  double step_cost(const Effort&) const override;
  bool looks_ahead() const override { return !refuses_ahead(problem_.model()); }

 private:
  LawPath draw(std::span<const double> theta, const Schedule&, Draw, const Request&, double margin) const;
  ParticleProblem problem_;
  NormalPrecision precision_;
  Prediction prediction_;
  LawKind law_kind_;
};
}  // namespace mckean
