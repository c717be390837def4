// Stochastic approximation: Procedure 1 at one level, Procedure 2 at two levels together.
#pragma once

#include <Eigen/Core>

#include "engine/particles/path_sampler.hpp"
#include "mckean/fit.hpp"

namespace mckean {

struct ChainOptions : SamplerOptions {
  // Iterations that only move the paths, before θ first moves: paths begin as draws from the model, far from the data.
  std::size_t burn_in = 0;
  StepRule step{};
  // In front of the score, in unconstrained coordinates; empty: the identity.
  Eigen::MatrixXd precondition{};
  std::vector<double> start{};  // θ_0
};

// At the model's start, with what a user decides of every kind of chain.
ChainOptions chain_options(const Model&, std::optional<Smoother>, bool finite_difference, bool full_precision);
// At θ, for chains that hold it.
ChainOptions held_chain(const ParticleProblem&, std::span<const double> theta, const SmoothOptions&,
                        bool finite_difference);

// The rule that moves θ by scores, in unconstrained coordinates and inside a growing sequence of compact sets: leaving
// one returns it to the start and enlarges the set, as does a θ at which the discretised dynamics explode.
class Iterate {
 public:
  Iterate(const Model&, const ChainOptions&);
  std::vector<double> theta() const;
  // θ ← θ + γ_n P H; false where it had to be returned to the start.
  bool move(std::size_t n, std::span<const double> score);
  // Back to the start, and a larger set; throws NumericalError once too often, with the last reason.
  void return_to_start(const std::string& reason);
  std::size_t reprojections() const { return reprojections_; }

 private:
  const Model& model_;
  const ChainOptions& options_;
  Eigen::VectorXd start_, u_;
  std::size_t reprojections_ = 0;
};

// Procedure 1: a new path at the present θ, its score by a fresh law, and θ moved by it.
class Chain {
 public:
  Chain(const ParticleProblem&, const ChainOptions&, ChainIdentity);
  Chain(const Chain&) = delete;  // the iterate reads its options
  Chain& operator=(const Chain&) = delete;

  void advance();
  std::vector<double> theta() const { return iterate_.theta(); }
  std::size_t reprojections() const { return iterate_.reprojections(); }
  std::uint64_t particle_steps() const { return sampler_.particle_steps(); }

 private:
  ChainOptions options_;
  Iterate iterate_;
  PathSampler sampler_;
  std::size_t moves_ = 0;
};

// Procedure 2: the same at the levels id.level and id.level − 1, coupled.
class CoupledChain {
 public:
  CoupledChain(const ParticleProblem&, const ChainOptions&, ChainIdentity);
  CoupledChain(const CoupledChain&) = delete;
  CoupledChain& operator=(const CoupledChain&) = delete;

  void advance();
  std::vector<double> fine() const { return fine_.theta(); }
  std::vector<double> coarse() const { return coarse_.theta(); }
  std::size_t reprojections() const { return fine_.reprojections() + coarse_.reprojections(); }
  std::uint64_t particle_steps() const { return sampler_.particle_steps(); }

 private:
  void begin();
  bool move(const ThetaPair& now);  // false: back at the start

  ChainOptions options_;
  Iterate fine_, coarse_;
  CoupledPathSampler sampler_;
  std::size_t moves_ = 0;
};
}  // namespace mckean
