// One level of a particle filter: particles, how they are proposed, and their weights.
#pragma once

#include "engine/particles/observation_frame.hpp"
#include "engine/particles/proposal.hpp"
#include "engine/particles/weights.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// A trajectory at every grid point up to the series' last row, one column for each component.
using Path = Columns;

// Calls use(law) with a law drawn by draw(margin), again with wider margins while particles leave its windows. Ends,
// because wide windows need ranks that fall through to pairwise sums, which have no windows.
template <class Draw, class Use>
void with_wide_enough_law(Draw&& draw, Use&& use) {
  for (double margin = 1; use(draw(margin)) != LawStatus::good;) margin *= 2;
}

struct FilterOptions {
  std::size_t particles = 100;  // M
  NormalPrecision precision = NormalPrecision::single;
  std::optional<AheadOptions> ahead = {};  // none: the model's own steps
};

class FilterLevel {
 public:
  // With a proposal of its own, unless given another.
  FilterLevel(const System&, const Observation&, const Schedule&, const FilterOptions&, const Kernels&,
              std::unique_ptr<Proposal> = nullptr);

  void set_law(const LawPath&, std::span<const double> theta);
  const LawPath& law() const { return *law_; }
  std::span<const double> theta() const { return theta_; }
  const Schedule& schedule() const { return schedule_; }
  Proposal& proposal() { return *proposal_; }

  std::size_t particles() const { return options_.particles; }
  const Columns& x() const { return x_[now_]; }

  // At the start; with a reference, the last particle follows it.
  void begin(std::size_t series, const Stream& start, const Path* reference = nullptr);
  // Grid step k of all particles: good, or window_left.
  LawStatus step(std::size_t k, NoiseSource& noise) {
    const LawStatus status = proposal_->propose(k, x_[now_], x_[1 - now_], noise);
    if (status != LawStatus::good) return status;
    now_ = 1 - now_;
    if (proposal_->weighs()) weigh_step(k);
    return status;
  }
  // Checks, and places the reference. Throws Explosion where a particle is not finite.
  void arrive(std::size_t point);

  // The logs of the weights since the last resampling: those of the steps, and temper · log G of the observed values.
  // None where all weights are equal.
  std::span<const double> weigh(std::size_t point, std::span<const double> values, double temper = 1);
  // Weights relative to the largest, in place of their logs, for whoever resamples; with the first stage of the
  // interval that follows, if any.
  WeightSum normalise(std::size_t point, bool last);
  std::span<const double> weights() const { return {w_.data(), particles()}; }
  // Particle i becomes a copy of particle ancestors[i], and all weigh the same.
  void resample(std::span<const std::uint32_t> ancestors);
  // Or nobody is resampled, and the weights stay.
  void keep_weights(std::size_t point);

 private:
  void place_reference(std::size_t point);
  void weigh_step(std::size_t k);  // that was just taken

  const System& system_;
  const Schedule& schedule_;
  FilterOptions options_;
  const Kernels& kernels_;
  ObservationFrame observation_;
  std::unique_ptr<Proposal> proposal_;
  const LawPath* law_ = nullptr;
  std::vector<double> theta_;
  const Path* reference_ = nullptr;
  Columns x_[2];
  std::size_t now_ = 0;
  AlignedBuffer w_;        // at a stop: the logs of the weights, then the weights
  AlignedBuffer carried_;  // logs of the weights on the way, where the proposal weighs
};
}  // namespace mckean
