// The likelihood of data under a model, by a bootstrap particle filter given a law, and the state given the data, by
// chains of smoothed paths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mckean/data.hpp"
#include "mckean/model.hpp"
#include "mckean/tasks.hpp"

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

struct LikelihoodAverage {
  LikelihoodSummary summary;
  std::uint64_t particle_steps = 0;
  std::vector<std::string> warnings;      // of all estimates, each once
  std::vector<double> prediction_errors;  // their means
};
// From so many estimates; `group` names their tasks. Throws NumericalError, and Stopped.
LikelihoodAverage average_likelihood(const LikelihoodEstimator&, std::span<const double> theta, std::size_t repeats,
                                     TaskRunner&, const std::string& group = "likelihood");

// Where new ancestors come from: backward, by their density; genealogy, as in the paper, from the filter's own.
enum class Smoother { backward, genealogy };

// Backward sampling needs noise in every component: elsewhere a new ancestor has density zero.
bool can_sample_backward(const Model&);
// Backward where that can be, unless told. Throws InputError where it is asked for and cannot be.
Smoother smoother_for(const Model&, std::optional<Smoother> wanted);

// Chains of paths at fixed parameters.
struct SmoothOptions {
  int level = 5;
  // M of the smoother and N of the law: numbers, or rules of l, L (here the same) and T such as "10*l".
  std::string particles = "100", law_particles = "500";
  std::size_t iterations = 500, burn_in = 20, chains = 8;
  std::optional<Smoother> smoother = {};  // backward where that can be, unless told
  std::uint64_t seed = 1;
  double unit = 0;              // unit of time that a level splits; 0: the median spacing of the observations
  bool full_precision = false;  // 64-bit normals
};

// The state at one time.
struct Smoothed {
  double mean, sd, q05, q50, q95;
};
struct SmoothedStates {
  std::vector<std::vector<std::vector<Smoothed>>> at;  // series by series, component by component, row by row
  std::size_t particles = 0, law_particles = 0;
  std::uint64_t particle_steps = 0;
};
// At θ. Throws InputError, NumericalError, and Stopped.
SmoothedStates smooth(const Model&, const Data&, std::span<const double> theta, const SmoothOptions&, TaskRunner&);
}  // namespace mckean
