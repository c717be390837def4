// How particles get from one grid point to the next, and the weights that make up for it where that is not the model's
// own way. With a density q of its own in place of the model's f, and functions ψ_0 … ψ_J of the state at the points of
// an interval between observations (ψ_J = 1 at its end),
//
//   first_stage adds log ψ_0(x_0), weigh adds log[f(x_j | x_{j−1})/q(x_j | x_{j−1}) · ψ_j(x_j)/ψ_{j−1}(x_{j−1})]
//
// to the logs of the weights: their product over an interval is Π f/q, and whoever resamples in between has weights
// that look ahead. A step is a function of the point and of the model's own normals, so that filters, reference paths
// and the replay of drawn paths share it.
#pragma once

#include <memory>
#include <optional>

#include "law/pairwise.hpp"

namespace mckean {

struct AheadOptions {
  double widening = 1;  // of the variance of what is aimed at: tails must not be lighter than those of the truth
  double temper = 1;    // of the observations
};

class Proposal {
 public:
  virtual ~Proposal() = default;

  // The law that is felt from now on, and the parameters.
  virtual void set_law(const LawPath&, std::span<const double> theta) = 0;
  // The series whose observations follow, and whether one particle is a reference path.
  virtual void begin(std::size_t /*series*/, bool /*with_reference*/) {}

  // All particles from grid point k to the next: good, or window_left.
  virtual LawStatus propose(std::size_t k, const Columns& from, Columns& to, NoiseSource&) = 0;
  // The same, with the same bits, for single particles that are each at a step of its own; their columns x are
  // replaced.
  virtual void replay(std::span<const StepOfParticle> at, Columns& x, NoiseSource&) = 0;

  // Whether f/q or a ψ differs from 1. Where not, the weights are those of the observations, and those below are not
  // called.
  virtual bool weighs() const { return false; }
  virtual void first_stage(std::size_t /*point*/, const Columns& /*x*/, double* /*log_w*/) {}
  // Behind a step, a particle was put elsewhere than it was proposed.
  virtual void displaced(std::size_t /*k*/, const Columns& /*from*/, const Columns& /*to*/, std::size_t /*particle*/) {}
  virtual void weigh(std::size_t /*k*/, const Columns& /*from*/, const Columns& /*to*/, double* /*log_w*/) {}
};

// The model's own step.
class PlainProposal : public Proposal {
 public:
  PlainProposal(const Grid&, std::size_t particles, const Kernels&);

  void set_law(const LawPath&, std::span<const double> theta) override;
  LawStatus propose(std::size_t k, const Columns& from, Columns& to, NoiseSource&) override;
  void replay(std::span<const StepOfParticle> at, Columns& x, NoiseSource&) override;

  // Whether all particles are where the law's expansions hold.
  bool inside_windows(std::size_t k, const Columns& x) const;

 private:
  bool inside_window(std::size_t k, std::size_t stage, std::size_t window, const double* x) const;
  void propose_noise(std::size_t k, const Columns& from, Columns& to, NoiseSource&);
  void place_lane(std::size_t lane, std::size_t k, const Columns& x);

  const Grid& grid_;
  const Kernels& kernels_;
  std::size_t particles_;
  const LawPath* law_ = nullptr;
  std::vector<double> theta_;
  std::shared_ptr<const Dynamics> dynamics_;  // of the frames
  std::optional<Frame> move_, noise_;
  std::optional<Frame> replay_;  // when it is first needed
  std::optional<PairwiseReader> pair_;
  Columns xi_;
  Columns later_;  // components with a window at the later stages' points
  Columns lanes_;  // of replay: flow of time, inputs of the law, ξ, z, then the new x
  std::vector<double> uniforms_, own_, one_xi_;
  std::vector<const double*> in_;
  std::vector<double*> out_;
};
}  // namespace mckean
