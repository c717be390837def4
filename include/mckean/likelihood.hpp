// The likelihood at given parameters, as the mean of independent estimates.
#pragma once

#include "mckean/engine.hpp"
#include "mckean/finding.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

// Several estimates of one likelihood: log of their mean, and its standard error by the delta method (none from
// a single estimate, 0 from an exact engine).
struct LikelihoodSummary {
  double value;
  std::optional<double> se;
};
LikelihoodSummary summarise(std::span<const double> log_values);

struct LikelihoodAverage {
  LikelihoodSummary summary;
  std::uint64_t particle_steps = 0;
  Findings findings;                      // of all estimates, each once
  std::vector<double> prediction_errors;  // their means
};

struct AverageOptions {
  Request request = {.predictions = true, .accepts_implausible = false, .quiet_law = false};
  std::uint64_t seed = 1;
  std::size_t repeats = 16;          // one of an exact engine
  std::string group = "likelihood";  // of its tasks
};
// Throws NumericalError, and Stopped.
LikelihoodAverage average_likelihood(const Engine&, std::span<const double> theta, const AverageOptions&, TaskRunner&);

// The likelihood of the diffusion itself: steps, law, particles and proposal are chosen by what they are measured to
// change, in draws and counted work.
struct DiffusionOptions {
  double tolerance = 0.1;  // log units, of all errors together
  std::uint64_t seed = 1;
  double most_work = 4e9;  // particle-steps times their cost, after which it ends as it is
};
// By how much a finer computation moves the value, and the Monte Carlo error of that.
struct MeasuredChange {
  double value = 0, se = 0;
};
struct DiffusionLikelihood {
  LikelihoodAverage average;
  Effort effort;
  std::size_t repeats = 0;
  // By the last doubling of the steps, by the last fourfold law; none where that is not known.
  std::optional<MeasuredChange> steps, law;
  bool reached = false;  // the tolerance
};
// Of an engine with particles. Throws NumericalError, and Stopped.
DiffusionLikelihood diffusion_likelihood(const Engine&, std::span<const double> theta, const DiffusionOptions&,
                                         TaskRunner&);
}  // namespace mckean
