// The Markov kernels of the smoother as the paper has them: Algorithm 2 and Algorithm 4.
#pragma once

#include "engine/particles/path_kernel.hpp"

namespace mckean {

// Algorithm 2, the conditional particle filter, given a law: leaves the smoother given that law invariant.
class ConditionalFilter {
 public:
  ConditionalFilter(const System&, const Observation&, const Schedule&, const KernelOptions&,
                    const Kernels& = kernels());

  void set_law(const LawPath& law, std::span<const double> theta) { kernel_.set_law(0, law, theta); }

  // A path from the model itself, to begin with. None: a particle left a window of the law, here and below.
  std::optional<Path> first_path(std::size_t series, const KernelNoise&);
  // One draw of the kernel.
  std::optional<Path> step(std::size_t series, const Path&, const KernelNoise&);

 private:
  PathKernel kernel_;
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
  PathKernel kernel_;
};
}  // namespace mckean
