// Steps that are bent towards the next observation, and weights that look ahead to it.
//
// ψ(x) is a normal density of that observation, forecast from x without noise and as wide as the noise makes it. At the
// beginning of an interval it enters the weights, at the first step it leaves them; each step is that of the model
// given a normal approximation of the observation (step/ahead.hpp). Whatever forecast and width are, the likelihood is
// unbiased. Guarniero, Johansen and Lee (2017) and Whiteley and Lee (2014) have the theory of such twisted filters.
#pragma once

#include "engine/particles/aim.hpp"
#include "engine/particles/proposal.hpp"

namespace mckean {

class AheadProposal : public Proposal {
 public:
  AheadProposal(const System&, const Schedule&, std::size_t particles, const AheadOptions&, const Kernels&);

  void set_law(const LawPath&, std::span<const double> theta) override;
  void begin(std::size_t series, bool with_reference) override;
  LawStatus propose(std::size_t k, const Columns& from, Columns& to, NoiseSource&) override;
  void replay(std::span<const StepOfParticle> at, Columns& x, NoiseSource&) override;
  bool weighs() const override { return true; }
  void first_stage(std::size_t point, const Columns& x, double* log_w) override;
  void displaced(std::size_t k, const Columns& from, const Columns& to, std::size_t particle) override;
  void weigh(std::size_t k, const Columns& from, const Columns& to, double* log_w) override;

 private:
  // Step k of n particles: where they are when the observation comes without further noise. make(j, first) has the
  // normals of source j.
  template <class Make>
  const Columns& bend(std::size_t k, const Columns& from, std::size_t n, Columns& to, double* log_ratio, Make&& make);
  void choose_points(const Columns& x, const double* log_w);
  // log ψ of particles that are forecast to be at x when the observation comes, times `sign`, added to log_w.
  void add_log_psi(const Aim&, const Columns& x, std::size_t n, double sign, double* log_w);

  const System& system_;
  const Schedule& schedule_;
  AheadOptions options_;
  const Kernels& kernels_;
  std::size_t particles_, series_ = 0;
  bool with_reference_ = false;
  PlainProposal plain_;  // where there is nothing to aim at
  std::shared_ptr<const Dynamics> dynamics_;
  std::shared_ptr<const Ahead> ahead_;
  std::optional<Forecaster> forecaster_;
  std::optional<Aimer> aimer_;
  Frame miss_, steer_, judge_, steer_last_, judge_last_;
  std::vector<Aim> opening_, aim_;       // at a grid point where an interval begins; behind each grid step
  Columns departed_, points_, one_, z_;  // of all particles; of some; of one
  AlignedBuffer misses_, log_ratio_;
  std::vector<std::uint32_t> order_;
  std::vector<double> ordered_;
  std::vector<const double*> in_;
  std::vector<double*> out_;
};
}  // namespace mckean
