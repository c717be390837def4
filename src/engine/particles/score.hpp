// The score H_l of a path, and the complete-data information.
//
//   H_l = Σ_k ∇_θ log G_θ(x_{t_k}, y_k) + Σ_steps gᵀ Σ(x)⁻¹ [Δx − a Δ],   g = ∂a/∂θ at fixed x, the law's own
//   dependence on θ
// included. The law must be a fresh draw, independent of the one behind the path, with derivatives.
#pragma once

#include "engine/particles/filter_side.hpp"
#include "step/observation_score.hpp"

namespace mckean {

class ObservationScoreFrame {
 public:
  ObservationScoreFrame(const ObservationScore&, const Kernels&);
  void set_parameters(std::span<const double> theta) { frame_.set_fixed(theta); }

  // Adds the gradient along a path, and the sum of the squared gradients of the single observations to the
  // information.
  void add(const Schedule&, std::size_t series, const Path&, std::span<double> gradient, std::span<double> information);

 private:
  const ObservationScore& observation_;
  Frame frame_;
};

struct PathScore {
  std::vector<double> gradient;     // one entry a parameter
  std::vector<double> information;  // Σ Δ gᵀΣ⁻¹g + observation part: a matrix, row by row, positive semidefinite
};

class Score {
 public:
  Score(const System&, const ObservationScore&, const Schedule&, const Kernels& = kernels());

  void set_parameters(std::span<const double> theta) { theta_.assign(theta.begin(), theta.end()); }

  // Adds the score of one series' path: good, or window_left. Throws NumericalError where it is not finite.
  LawStatus add(std::size_t series, const Path&, const LawPath&, PathScore& to);

  PathScore zero() const;

 private:
  void use(const LawPath&);
  LawStatus read_pairwise(const LawPath&, const Path&, std::size_t steps);
  bool inside_windows(const LawPath&, const Path&, std::size_t steps) const;
  bool stages_inside(const LawPath&, std::size_t steps) const;

  const System& system_;
  const Schedule& schedule_;
  const Kernels& kernels_;
  std::vector<double> theta_;
  ObservationScoreFrame observation_;
  std::shared_ptr<const Dynamics> dynamics_;
  std::optional<Frame> frame_;
  std::optional<PairwiseReader> pair_;
  Columns clock_;   // the times of every step
  Columns points_;  // of later stages, where something is expanded
  Columns xi_;      // ξ and ∂ξ of every step, where an interaction is pairwise
};
}  // namespace mckean
