// Stochastic approximation: Procedure 1 at one level, Procedure 2 at two levels together.
#pragma once

#include <Eigen/Core>

#include "engine/particles/kernel.hpp"
#include "engine/particles/particle_problem.hpp"
#include "engine/particles/score.hpp"
#include "mckean/fit.hpp"

namespace mckean {

struct ChainOptions {
  std::size_t particles = 100;             // M
  std::size_t law_particles = 200;         // N_l
  std::size_t coarse_law_particles = 200;  // N_{l−1} <= N_l, of Procedure 2
  // Iterations that only move the paths, before θ first moves: paths begin as draws from the model, far from the data.
  std::size_t burn_in = 0;
  Smoother smoother = Smoother::backward;
  Derivative derivative = Derivative::tangent;
  NormalPrecision precision = NormalPrecision::single;
  // Laws of pairs of particles with opposite noise: where the mean field is nearly linear in the law, its noise
  // almost cancels. Off for the algorithms as printed.
  bool antithetic_laws = false;
  StepRule step{};
  // In front of the score, in unconstrained coordinates; empty: the identity.
  Eigen::MatrixXd precondition{};
  std::vector<double> start{};  // θ_0
  std::stop_token stop{};       // asked before every iteration; then Stopped is thrown
};

// At the model's start, with what a user decides of every kind of chain.
ChainOptions chain_options(const Model&, std::optional<Smoother>, bool finite_difference, bool full_precision);
// At θ, for chains that hold it.
ChainOptions held_chain(const ParticleProblem&, std::span<const double> theta, const SmoothOptions&,
                        bool finite_difference);

// θ in unconstrained coordinates, moved by scores, inside a growing sequence of compact sets: leaving one returns it to
// the start and enlarges the set, as does a θ at which the discretised dynamics explode.
class Iterate {
 public:
  Iterate(const Model&, const ChainOptions&);
  std::vector<double> theta() const;
  // θ ← θ + γ_n P H; false where it had to be returned to the start.
  bool move(std::size_t n, std::span<const double> score);
  void place(std::span<const double> theta);
  // Back to the start, and a larger set; throws NumericalError once too often, with the last reason.
  void return_to_start(const std::string& reason);
  std::size_t reprojections() const { return reprojections_; }

 private:
  const Model& model_;
  const ChainOptions& options_;
  Eigen::VectorXd start_, u_;
  std::size_t reprojections_ = 0;
};

// What both procedures know of their replicate.
struct ChainIdentity {
  std::uint64_t seed;
  std::uint32_t replicate;
  int level;
};

class Chain {
 public:
  Chain(const ParticleProblem&, const ChainOptions&, ChainIdentity);
  Chain(const Chain&) = delete;  // the filter reads its schedule
  Chain& operator=(const Chain&) = delete;

  // A new path at the present θ, its score by a fresh law, and θ moved by it (unless `hold`).
  const PathScore& advance(bool hold = false);

  void move_paths();                                                    // new paths only, at the same θ
  void place(std::span<const double> theta) { iterate_.place(theta); }  // for whoever moves θ by another rule

  std::vector<double> theta() const { return iterate_.theta(); }
  const std::vector<Path>& paths() const { return paths_; }  // series by series
  std::size_t reprojections() const { return iterate_.reprojections(); }
  std::uint64_t particle_steps() const { return particle_steps_; }
  // H of the present paths at another θ, with the law's noise of the last advance.
  PathScore score_at(std::span<const double> theta) { return score_given(theta, n_); }
  // The same with a law that no iteration uses.
  PathScore score_with_another_law(std::span<const double> theta) { return score_given(theta, ~n_); }

 private:
  template <class Draw>
  void replace_paths(std::span<const double> theta, std::size_t particles, Draw&& draw);
  void begin();
  void draw_paths(std::span<const double> theta);
  PathScore score_given(std::span<const double> theta, std::uint32_t law);

  const ParticleProblem& problem_;
  ChainOptions options_;
  ChainIdentity id_;
  Schedule schedule_;
  Iterate iterate_;
  ConditionalFilter filter_;
  Score score_;
  PathScore last_;
  std::vector<Path> paths_;
  std::uint32_t n_ = 0;    // names the noise of an iteration
  std::size_t moves_ = 0;  // of θ
  std::uint64_t particle_steps_ = 0;
};

class CoupledChain {
 public:
  CoupledChain(const ParticleProblem&, const ChainOptions&, ChainIdentity);  // levels id.level and id.level − 1
  CoupledChain(const CoupledChain&) = delete;
  CoupledChain& operator=(const CoupledChain&) = delete;
  void advance();
  std::vector<double> fine() const { return fine_.theta(); }
  std::vector<double> coarse() const { return coarse_.theta(); }
  std::size_t reprojections() const { return fine_.reprojections() + coarse_.reprojections(); }
  std::uint64_t particle_steps() const { return particle_steps_; }

 private:
  using Laws = std::pair<LawPath, LawPath>;
  void begin();
  void move_paths();
  // What `use` makes of fresh laws at the present values.
  template <class Use>
  void with_laws(const LawNoise&, Derivative, Use&&);
  void draw_paths();
  bool move();  // false: back at the start

  const ParticleProblem& problem_;
  ChainOptions options_;
  ChainIdentity id_;
  Schedule fine_schedule_, coarse_schedule_;
  Iterate fine_, coarse_;
  CoupledFilter filter_;
  Score fine_score_, coarse_score_;
  std::vector<CoupledFilter::Pair> paths_;
  std::uint32_t n_ = 0;
  std::size_t moves_ = 0;
  std::uint64_t particle_steps_ = 0;
};
}  // namespace mckean
