// The paper's final algorithm: a randomised multilevel estimator of the maximum-likelihood estimate at level L. One
// replicate is a pure function of (seed, replicate number).
#pragma once

#include <optional>

#include "paper/chain.hpp"
#include "paper/record.hpp"
#include "paper/rule.hpp"

namespace mckean {

struct EstimatorOptions {
  enum class Kind { paper, single } kind = Kind::paper;
  int lowest = 2, highest = 4;                                                 // l_min and L
  std::optional<int> most_p = 6;                                               // p_max; none: unbounded
  Formula level_weight{"2^(-l/4)", "level_weight", {"l"}};                     // P_L, up to a factor
  Formula length_weight{"2^-p*(p + 1)*log(p + 2)^2", "length_weight", {"p"}};  // P_P, up to a factor
  Formula chain_length{"2^p", "chain_length", {"p"}};                          // T_p
  std::size_t iterations = 100;                                                // of the single-level estimator
  Rule particles{"100", "particles"};                                          // M
  Rule law_particles{"500", "law_particles"};                                  // N_l
  ChainOptions chain;  // its numbers of particles are set from the rules
  std::uint64_t seed = 1;
};

struct Replicate {
  int level = 0, p = 0;
  std::vector<double> difference;  // θ^{T_p} − θ^{T_{p−1}}, of the two levels where there are two
  std::vector<double> estimate;    // difference / (P_L P_P): its mean is the answer
  std::uint64_t particle_steps = 0;
  std::size_t reprojections = 0;
};
constexpr auto record_of(const Replicate*) {
  return record("replicate", &Replicate::level, &Replicate::p, &Replicate::difference, &Replicate::estimate,
                &Replicate::particle_steps, &Replicate::reprojections);
}

class MultilevelEstimator {
 public:
  MultilevelEstimator(const ParticleProblem&, const EstimatorOptions&);

  Replicate operator()(std::uint32_t replicate, std::stop_token = {}) const;
  double expected_cost(std::uint32_t replicate) const;  // particle-steps, roughly

  double level_probability(int level) const;
  double length_probability(int p) const;
  ChainOptions chain_options(int level) const;
  std::size_t iterations(int p) const;  // of a chain: T_p, or all of the single-level estimator

 private:
  std::pair<int, int> draw_cell(std::uint32_t replicate) const;

  const ParticleProblem& problem_;
  EstimatorOptions options_;
  std::vector<double> levels_, lengths_;  // probabilities
  std::vector<std::size_t> iterations_;   // T_p
};

// Statistics of many replicates.
struct EstimateSummary {
  std::vector<double> value, mc_se;
  std::vector<Cell> cells;  // by level, then p
  std::uint64_t particle_steps = 0;
  std::size_t reprojections = 0;
};
EstimateSummary summarise(std::span<const Replicate>);
}  // namespace mckean
