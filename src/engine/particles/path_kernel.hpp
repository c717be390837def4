// The Markov kernel of the smoother at one level (Algorithm 2) or at two together (Algorithm 4): a conditional particle
// filter forwards, and a path drawn backwards.
#pragma once

#include "engine/particles/ancestor_draw.hpp"
#include "engine/particles/filter.hpp"
#include "engine/particles/filter_side.hpp"
#include "mckean/smooth.hpp"

namespace mckean {

struct KernelOptions {
  std::size_t particles = 100;  // M, the reference included; at least 2
  Smoother smoother = Smoother::backward;
  NormalPrecision precision = NormalPrecision::single;
  // Of one level; none: the model's own steps, as where its noise could not be told from a path.
  std::optional<AheadOptions> ahead = {};
};

// Where a kernel draws from: one iteration of one replicate.
struct KernelNoise {
  KernelNoise(std::uint64_t seed, std::uint32_t replicate, std::uint32_t iteration);
  Stream start, path, resample, trace;
};

class PathKernel {
 public:
  // Levels from fine to coarse: one or two.
  PathKernel(const System&, const Observation&, std::span<const Schedule* const> levels, const KernelOptions&,
             std::unique_ptr<AncestorDraw>, const Kernels&);

  void set_law(std::size_t level, const LawPath& law, std::span<const double> theta);

  // Paths level by level; none where a particle left a window of a law. The first come from the model itself.
  std::optional<std::vector<Path>> first_paths(std::size_t series, const KernelNoise&);
  std::optional<std::vector<Path>> step(std::size_t series, std::span<const Path* const>, const KernelNoise&);

 private:
  // The normals of one series: those of the coarse level are sums of the fine ones.
  class SeriesNoise {
   public:
    SeriesNoise(const NoiseOrigin&, std::size_t particles, std::size_t levels);
    SeriesNoise(const SeriesNoise&) = delete;
    SeriesNoise& operator=(const SeriesNoise&) = delete;
    NoiseSource& of(std::size_t level) { return level == 0 ? static_cast<NoiseSource&>(fine_) : *coarse_; }

   private:
    FreshNoise fine_;
    std::optional<CoarseNoise> coarse_;
  };
  NoiseOrigin origin(std::size_t series, const Stream&) const;
  std::vector<Path> empty_paths() const;
  std::uint32_t number_of(std::size_t series, std::size_t stop) const;
  bool resamples(std::size_t series, std::size_t stop) const;

  void at_stop(std::size_t stop, std::size_t series, const Stream& resample);
  void choose(std::size_t stop, std::size_t series, const Stream& trace);
  void trace_back(std::size_t series, const Stream& trace, SeriesNoise&);

  const System& system_;
  KernelOptions options_;
  const Kernels& kernels_;
  std::unique_ptr<AncestorDraw> draw_;
  std::vector<FilterSide> sides_;
  std::vector<FilterLevel> single_;  // one particle of each level
  std::vector<std::span<const double>> weights_;
  std::vector<std::vector<std::uint32_t>> ancestors_;  // level by level
  std::vector<std::uint32_t> index_;
  std::vector<double> u_;
};
}  // namespace mckean
