// The likelihood of data under a model, by a bootstrap particle filter given a law.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mckean/data.hpp"
#include "mckean/model.hpp"

namespace mckean {

struct LikelihoodOptions {
  int level = 5;
  std::size_t particles = 4096;      // M, of the filter
  std::size_t law_particles = 4096;  // N, of the law
  std::uint64_t seed = 1;
  double unit = 0;              // unit of time that a level splits; 0: the median spacing of the observations
  bool full_precision = false;  // 64-bit normals
};

struct Likelihood {
  double log_value;                   // log of an unbiased estimate of p(y | θ)
  std::uint64_t particle_steps;       // Euler updates of one particle
  std::vector<std::string> warnings;  // observations at which one particle carries all the weight
  // (y − its prediction)/sd of the prediction, from all observations before it: series by series, row by row, column
  // by column. NaN where y is missing or its distribution has no moments.
  std::vector<double> prediction_errors;
};

// Estimates that are pure functions of (model, data, options, θ, replicate). One object serves many threads.
class LikelihoodEstimator {
 public:
  LikelihoodEstimator(const Model&, const Data&, const LikelihoodOptions&);  // throws InputError
  ~LikelihoodEstimator();

  // Law and filter drawn afresh. Throws NumericalError: a trajectory that overflows, an observation that no
  // particle explains.
  Likelihood operator()(std::span<const double> theta, std::uint32_t replicate) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

// Several estimates of one likelihood: log of their mean, and its standard error by the delta method (none from
// a single estimate).
struct LikelihoodSummary {
  double value;
  std::optional<double> se;
};
LikelihoodSummary summarise(std::span<const double> log_values);
}  // namespace mckean
