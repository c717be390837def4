// The Markov kernels of the smoother: Algorithm 2 and Algorithm 4.
#pragma once

#include "engine/particles/coupling.hpp"
#include "engine/particles/filter_side.hpp"
#include "mckean/smooth.hpp"

namespace mckean {

struct KernelOptions {
  std::size_t particles = 100;  // M, the reference included; at least 2
  Smoother smoother = Smoother::backward;
  NormalPrecision precision = NormalPrecision::single;
};

// Where a kernel draws from: one iteration of one replicate.
struct KernelNoise {
  KernelNoise(std::uint64_t seed, std::uint32_t replicate, std::uint32_t iteration);
  Stream start, path, resample, trace;
};

// Algorithm 2, the conditional particle filter, given a law: leaves the smoother given that law invariant.
class ConditionalFilter {
 public:
  ConditionalFilter(const System&, const Observation&, const Schedule&, const KernelOptions&,
                    const Kernels& = kernels());

  void set_law(const LawPath& law, std::span<const double> theta) { side_.set_law(law, theta); }

  // A path from the model itself, to begin with. None: a particle left a window of the law, here and below.
  std::optional<Path> first_path(std::size_t series, const KernelNoise&);
  // One draw of the kernel.
  std::optional<Path> step(std::size_t series, const Path&, const KernelNoise&);

 private:
  const System& system_;
  const Schedule& schedule_;
  KernelOptions options_;
  const Kernels& kernels_;
  FilterSide side_;
  Particles single_;
  Categorical categorical_;
};

// Algorithm 4, the coupled conditional particle filter: each side by itself is Algorithm 2 at its level.
class CoupledFilter {
 public:
  CoupledFilter(const System&, const Observation&, const Schedule& fine, const Schedule& coarse, const KernelOptions&,
                std::unique_ptr<Coupling> = make_maximal_coupling(), const Kernels& = kernels());

  void set_laws(const LawPath& fine, const LawPath& coarse, std::span<const double> theta,
                std::span<const double> coarse_theta);

  struct Pair {
    Path fine, coarse;
  };
  std::optional<Pair> first_paths(std::size_t series, const KernelNoise&);
  std::optional<Pair> step(std::size_t series, const Pair&, const KernelNoise&);

 private:
  const System& system_;
  const Schedule &fine_schedule_, &coarse_schedule_;
  KernelOptions options_;
  std::unique_ptr<Coupling> coupling_;
  const Kernels& kernels_;
  FilterSide fine_, coarse_;
  Particles single_fine_, single_coarse_;
};
}  // namespace mckean
