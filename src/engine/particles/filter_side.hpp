// One level of a conditional particle filter: particles, weights, genealogy, and the path that was drawn. Algorithm 2
// has one side, Algorithm 4 two that are moved and resampled together.
//
// No path is stored: a side keeps where all particles are at the stops and who descends from whom, and replays the
// drawn path from its noise. Memory O(M·T + steps).
#pragma once

#include "engine/particles/filter_level.hpp"

namespace mckean {

class FilterSide {
 public:
  // Particle M − 1 is the reference.
  FilterSide(const System&, const Observation&, const Schedule&, const FilterOptions&, const Kernels&);

  void set_law(const LawPath&, std::span<const double> theta);
  FilterLevel& level() { return level_; }

  // Stop 0 is the start.
  void begin(std::size_t series, const Path& reference, const Stream& start);
  std::span<const std::size_t> stops() const { return points_; }  // grid points
  void arrive(std::size_t stop);                                  // checks, records, weighs
  std::span<const double> weights(std::size_t stop);              // for resampling, relative to the largest
  // Particle i descends from ancestors[i] of this stop; or each from itself.
  void resample(std::size_t stop, std::span<const std::uint32_t> ancestors);
  void keep(std::size_t stop) { level_.keep_weights(points_[stop]); }

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
  bool is_reference(std::size_t stop) const { return chosen_[stop] + 1 == level_.particles(); }
  std::optional<Schedule::Visit> observation(std::size_t stop) const;
  void next_point(std::size_t stop, NoiseSource&);
  void load_lanes(std::span<const Lane>);
  void replay_step(std::size_t step_in_segment, std::span<const Lane>, NoiseSource&);

  const System& system_;
  const Schedule& schedule_;
  const Kernels& kernels_;
  std::size_t dimension_, series_ = 0;
  FilterLevel level_;
  std::shared_ptr<const Dynamics> dynamics_;
  std::optional<Frame> transition_;
  std::optional<PairwiseReader> pair_;
  const Path* reference_ = nullptr;
  std::vector<std::size_t> points_;
  std::vector<Columns> endpoints_;          // before resampling
  std::vector<std::vector<double>> log_w_;  // at each stop; empty: all equal
  std::vector<std::vector<std::uint32_t>> ancestors_;
  std::vector<bool> resampled_;
  std::vector<std::uint32_t> chosen_;
  AlignedBuffer backward_;
  Columns lanes_, xi_;  // the points of segments that are replayed
  std::vector<StepOfParticle> replayed_;
  std::vector<double> target_;
};
}  // namespace mckean
