// Smoothed paths of all series, one iteration of the smoother's kernel after the other, each given a fresh law; and the
// scores of these paths. Paths only: the parameters are the caller's, who moves or holds them.
#pragma once

#include <stop_token>
#include <string>

#include "engine/particles/kernel.hpp"
#include "engine/particles/particle_problem.hpp"
#include "engine/particles/score.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

struct SamplerOptions {
  std::size_t particles = 100;             // M
  std::size_t law_particles = 200;         // N_l
  std::size_t coarse_law_particles = 200;  // N_{l−1} <= N_l, of two levels
  Smoother smoother = Smoother::backward;
  Derivative derivative = Derivative::tangent;
  NormalPrecision precision = NormalPrecision::single;
  // Laws of pairs of particles with opposite noise: where the mean field is nearly linear in the law, its noise
  // almost cancels. Off for the algorithms as printed.
  bool antithetic_laws = false;
  std::optional<AheadOptions> ahead = {};  // of one level: particles that look ahead
  // Where θ is held: one law for all paths of a chain, and one for all their scores. Few large laws have the noise of
  // many small ones that together are as large, and less of their bias.
  bool keep_laws = false;
  std::stop_token stop{};  // asked before every iteration; then Stopped is thrown
};

// Names the noise.
struct ChainIdentity {
  std::uint64_t seed;
  std::uint32_t replicate;
  int level;
  Scheme scheme = Scheme::euler;
  Steps steps() const { return {level, scheme}; }
};

// What samplers of one level and of two share.
class SamplerBase {
 public:
  SamplerBase(const SamplerBase&) = delete;  // the filter reads its schedule
  SamplerBase& operator=(const SamplerBase&) = delete;

  std::uint64_t particle_steps() const { return particle_steps_; }

  // Failures of work() say which replicate, level, iteration and parameters they belong to.
  template <class Work>
  void attempt(std::span<const double> theta, Work&& work) {
    if (options_.stop.stop_requested()) throw Stopped{};
    try {
      work();
    } catch (const Explosion& e) {
      throw Explosion(place(theta) + e.what());
    } catch (const NumericalError& e) {
      throw NumericalError(place(theta) + e.what());
    }
  }

 protected:
  SamplerBase(const ParticleProblem&, const SamplerOptions&, ChainIdentity);
  ~SamplerBase() = default;

  KernelNoise kernel_noise() const { return {id_.seed, id_.replicate, n_}; }
  LawNoise kernel_law() const { return law_noise(n_, Purpose::law_start, Purpose::law); }
  LawNoise score_law(std::uint32_t n) const { return law_noise(n, Purpose::score_law_start, Purpose::score_law); }
  LawOptions law_options(Derivative, double margin) const;

  const ParticleProblem& problem() const { return problem_; }
  const SamplerOptions& settings() const { return options_; }
  std::uint32_t iteration() const { return n_; }
  void next_iteration() { ++n_; }
  void count(std::uint64_t particle_steps) { particle_steps_ += particle_steps; }

 private:
  LawNoise law_noise(std::uint32_t n, Purpose start, Purpose path) const;
  std::string place(std::span<const double> theta) const;

  const ParticleProblem& problem_;
  SamplerOptions options_;
  ChainIdentity id_;
  std::uint32_t n_ = 0;  // names the noise of an iteration
  std::uint64_t particle_steps_ = 0;
};

class PathSampler : public SamplerBase {
 public:
  PathSampler(const ParticleProblem&, const SamplerOptions&, ChainIdentity);

  void begin(std::span<const double> theta);  // paths from the model itself, in the present iteration
  void draw(std::span<const double> theta);   // the next iteration
  // H of the present paths at θ, with a law of its own for each iteration.
  PathScore score(std::span<const double> theta) { return score_given(theta, iteration()); }
  // The same with a law that no iteration uses.
  PathScore score_with_another_law(std::span<const double> theta) { return score_given(theta, ~iteration()); }

  const std::vector<Path>& paths() const { return paths_; }  // series by series

  // For whoever lets failures pass, by attempt: paths to begin with and after some iterations; the next paths; and
  // their score.
  void start(std::span<const double> theta, std::size_t burn_in);
  void move_paths(std::span<const double> theta);
  PathScore advance(std::span<const double> theta);

 private:
  // The law that a chain keeps, with the margin that it was drawn with.
  struct KeptLaw {
    LawPath law;
    double margin = 0;
  };
  template <class Draw>
  void replace_paths(std::span<const double> theta, std::size_t particles, Draw&& draw);
  const LawPath& law(KeptLaw&, std::span<const double> theta, const LawNoise&, const LawOptions&);
  PathScore score_given(std::span<const double> theta, std::uint32_t law);

  Schedule schedule_;
  ConditionalFilter filter_;
  Score score_;
  KeptLaw path_law_, score_law_;
  std::vector<Path> paths_;
};

// Two values of θ: that of level id.level, and that of the level below.
struct ThetaPair {
  std::vector<double> fine, coarse;
};

class CoupledPathSampler : public SamplerBase {
 public:
  CoupledPathSampler(const ParticleProblem&, const SamplerOptions&, ChainIdentity);

  void begin(const ThetaPair&);
  void draw(const ThetaPair&);
  std::pair<PathScore, PathScore> scores(const ThetaPair&);

 private:
  template <class Draw>
  void replace_paths(const ThetaPair&, std::size_t particles, Draw&& draw);
  std::pair<LawPath, LawPath> draw_laws(const ThetaPair&, const LawNoise&, const LawOptions&) const;
  std::uint64_t law_cost(const std::pair<LawPath, LawPath>&, Derivative) const;

  Schedule fine_schedule_, coarse_schedule_;
  CoupledFilter filter_;
  Score fine_score_, coarse_score_;
  std::vector<CoupledFilter::Pair> paths_;
};
}  // namespace mckean
