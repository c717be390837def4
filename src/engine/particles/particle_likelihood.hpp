// One estimate of the likelihood: a law, then a bootstrap filter of each series given that law.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>

#include "engine/particles/observation_frame.hpp"
#include "engine/particles/particles.hpp"
#include "engine/particles/prediction.hpp"
#include "mckean/smooth.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// How one estimate is made; a search asks for many that differ in it.
struct FilterSettings {
  int level = 5;
  std::size_t particles = 4096, law_particles = 4096;  // M and N
  std::uint64_t seed = 1;
  std::uint32_t replicate = 0;
  NormalPrecision precision = NormalPrecision::single;
  double temper = 1;                 // every observation counts as that share of one: G^temper
  bool antithetic_law = false;       // law particles in pairs with opposite noise: a quieter law
  bool predictions = true;           // also the errors of one-step predictions, and warnings
  bool accepts_implausible = false;  // an observation that no particle explains has a tiny likelihood, not none
};

// A model with data, compiled once; pure in (θ, settings), and one object serves many threads. Both must outlive it.
class ParticleLikelihood {
 public:
  // The rank of expansions is found at this level. Throws InputError.
  ParticleLikelihood(const Model&, const Data&, double unit, int rank_level, std::uint64_t seed);

  // Throws NumericalError: a trajectory that overflows, an observation that has no density; Stopped.
  Likelihood operator()(std::span<const double> theta, const FilterSettings&, const std::stop_token& = {}) const;

  bool reads_law() const { return reads_law_; }    // else there is no law to draw
  bool pairwise() const { return pairwise_; }      // a step of the law costs N² in place of N
  double step_cost() const { return step_cost_; }  // of a particle, about 1 for models of two equations
  const Schedule& schedule(int level) const;

 private:
  Likelihood filter(const LawPath&, std::span<const double> theta, const FilterSettings&, const std::stop_token&) const;

  const Model& model_;
  const Data& data_;
  double unit_;
  System system_;
  Observation observation_;
  Prediction prediction_;
  std::size_t first_rank_;
  bool reads_law_, pairwise_;
  double step_cost_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<const Schedule>> schedules_;
};
}  // namespace mckean
