// One level of a conditional particle filter: particles, weights, genealogy, and the path that was drawn. Algorithm 2
// has one side, Algorithm 4 two that are moved and resampled together.
//
// No path is stored: a side keeps where all particles are at the stops and who descends from whom, and replays the
// drawn path from its noise. Memory O(M·T + steps).
#pragma once

#include "engine/particles/categorical.hpp"
#include "engine/particles/degeneracy.hpp"
#include "engine/particles/observation_frame.hpp"
#include "engine/particles/particles.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// A trajectory at every grid point up to the series' last row, one column a component.
using Path = Columns;

class FilterSide {
 public:
  FilterSide(const System&, const Observation&, const Schedule&, std::size_t particles, NormalPrecision,
             const Kernels&);

  void set_law(const LawPath&, std::span<const double> theta);

  // Stop 0 is the start; particle M − 1 is the reference.
  void begin(std::size_t series, const Path& reference, const Stream& start);
  std::size_t stops() const { return points_.size(); }
  std::size_t point(std::size_t stop) const { return points_[stop]; }
  std::size_t particles() const { return particles_.count(); }
  const LawPath& law() const { return *law_; }
  std::span<const double> parameters() const { return theta_; }

  LawStatus step(std::size_t k, NoiseSource& noise) { return particles_.step(k, noise); }  // grid step k, all particles
  // At a stop: checks, places the reference, weighs. Weights relative to the largest.
  std::span<const double> arrive(std::size_t stop);
  // Particle i descends from ancestors[i] of this stop.
  void resample(std::size_t stop, std::span<const std::uint32_t> ancestors);

  // Whose segment ends at stop v; set from the last stop down.
  void choose(std::size_t stop, std::uint32_t particle) { chosen_[stop] = particle; }
  std::uint32_t ancestor(std::size_t stop) const { return ancestors_[stop][chosen_[stop + 1]]; }  // of the chosen one
  bool resampled(std::size_t stop) const { return resampled_[stop]; }
  // Weights of all particles at a stop as ancestors of the chosen path behind it: weight × density of its next point.
  std::span<const double> backward_weights(std::size_t stop, NoiseSource&);

  // The chosen path. `reference` is the one given to begin.
  void write(Path& path, const Path& reference, NoiseSource&);

 private:
  struct Lane {
    std::size_t stop, steps;  // the segment that ends at this stop
  };
  void next_point(std::size_t stop, NoiseSource&);
  void load_lanes(std::span<const Lane>);
  void replay_step(std::size_t step_in_segment, std::span<const Lane>, NoiseSource&);

  const System& system_;
  const Schedule& schedule_;
  const Kernels& kernels_;
  std::size_t dimension_, series_ = 0;
  std::vector<double> theta_;
  const LawPath* law_ = nullptr;
  std::shared_ptr<const Dynamics> dynamics_;
  Particles particles_;
  ObservationFrame observation_;
  std::optional<Frame> transition_, replay_;
  std::optional<PairwiseReader> pair_;
  const Path* reference_ = nullptr;
  std::vector<std::size_t> points_;
  std::vector<Columns> endpoints_;          // before resampling
  std::vector<std::vector<double>> log_g_;  // at each stop; empty: all equal
  std::vector<std::vector<std::uint32_t>> ancestors_;
  std::vector<bool> resampled_;
  std::vector<std::uint32_t> chosen_;
  AlignedBuffer weights_;
  Columns lanes_;  // inputs and outputs of replay
  Columns xi_;
  std::vector<Spot> spots_;
  std::vector<double> target_, own_, one_xi_;
};
}  // namespace mckean
