// Particles that move by the Euler kernel given a law: what every filter is made of.
#pragma once

#include <optional>

#include "law/pairwise.hpp"

namespace mckean {

// Calls use(law) with a law drawn by draw(margin), again with wider margins while particles leave its windows. Ends,
// because wide windows need ranks that fall through to pairwise sums, which have no windows.
template <class Draw, class Use>
void with_wide_enough_law(Draw&& draw, Use&& use) {
  for (double margin = 1; use(draw(margin)) != LawStatus::good;) margin *= 2;
}

class Particles {
 public:
  Particles(const System&, const Grid&, std::size_t count, NormalPrecision, const Kernels&);

  // The law that is felt from now on, and the parameters.
  void set_law(const LawPath&, std::span<const double> theta);

  void start(const Stream&, std::uint32_t series);

  // x + a Δ + σ √Δ z over steps from .. to − 1 of the grid: good, or window_left. Throws NumericalError where a
  // particle is not finite at the end.
  LawStatus move(std::size_t from, std::size_t to, NoiseSource&);
  LawStatus step(std::size_t k, NoiseSource&);  // one of them, unchecked
  void check_finite(std::size_t point) const;   // throws NumericalError

  // Particle i becomes a copy of particle ancestors[i].
  void select(std::span<const std::uint32_t> ancestors);

  std::size_t count() const { return count_; }
  const Columns& x() const { return x_[now_]; }
  Columns& x() { return x_[now_]; }

 private:
  bool inside_windows() const;

  const System& system_;
  const Grid& grid_;
  const Kernels& kernels_;
  NormalPrecision precision_;
  std::size_t count_;
  const LawPath* law_ = nullptr;
  std::vector<double> theta_;
  std::shared_ptr<const Dynamics> dynamics_;  // of the frames
  std::optional<Frame> move_;
  std::optional<PairwiseReader> pair_;
  Columns x_[2], xi_;
  std::size_t now_ = 0;
  std::vector<double> uniforms_;
  std::vector<const double*> in_;
  std::vector<double*> out_;
};
}  // namespace mckean
