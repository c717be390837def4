#include <algorithm>
#include <cmath>

#include "engine/particles/particle_likelihood.hpp"

namespace mckean {

struct LikelihoodEstimator::Parts {
  Parts(const Model& model, const Data& data, const LikelihoodOptions& o)
      : likelihood(model, data, o.unit, o.level, o.seed), options(o) {}
  ParticleLikelihood likelihood;
  LikelihoodOptions options;
};

LikelihoodEstimator::LikelihoodEstimator(const Model& model, const Data& data, const LikelihoodOptions& options) {
  if (options.particles == 0 || options.law_particles == 0)
    throw InputError("the numbers of particles must be at least 1: --particles and --law-particles");
  parts_ = std::make_unique<Parts>(model, data, options);
}

LikelihoodEstimator::~LikelihoodEstimator() = default;

Likelihood LikelihoodEstimator::operator()(std::span<const double> theta, std::uint32_t replicate) const {
  const LikelihoodOptions& o = parts_->options;
  return parts_->likelihood(theta, {.level = o.level,
                                    .particles = o.particles,
                                    .law_particles = o.law_particles,
                                    .seed = o.seed,
                                    .replicate = replicate,
                                    .precision = o.full_precision ? NormalPrecision::full : NormalPrecision::single});
}

LikelihoodSummary summarise(std::span<const double> log_values) {
  const double largest = *std::ranges::max_element(log_values);
  const double n = static_cast<double>(log_values.size());
  double mean = 0, squares = 0;
  for (const double v : log_values) mean += std::exp(v - largest) / n;
  for (const double v : log_values) squares += std::pow(std::exp(v - largest) / mean - 1, 2);
  LikelihoodSummary out{largest + std::log(mean), std::nullopt};
  if (log_values.size() > 1) out.se = std::sqrt(squares / (n - 1) / n);
  return out;
}
}  // namespace mckean
