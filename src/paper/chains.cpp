#include "paper/chains.hpp"

#include "paper/ascent.hpp"
#include "paper/stratified.hpp"

namespace mckean {
namespace {

class ParticleChains : public Chains {
 public:
  explicit ParticleChains(const ParticleProblem& problem) : problem_(problem) {}

  HeldMoments moments(const ChainOptions& options, ChainIdentity id, const HeldOptions& held) const override {
    return held_moments(problem_, options, id, held);
  }
  Climb climb(const ChainOptions& options, ChainIdentity id, std::size_t iterations,
              const std::vector<bool>& free) const override {
    return climb_once(problem_, options, id, iterations, free);
  }
  CellReplicate replicate(const StratifiedPlan& plan, ChainIdentity id, int p, std::stop_token stop) const override {
    return run_chain(problem_, plan, id, p, std::move(stop));
  }

 private:
  const ParticleProblem& problem_;
};
}  // namespace

std::shared_ptr<const Chains> particle_chains(const ParticleProblem& problem) {
  return std::make_shared<ParticleChains>(problem);
}
}  // namespace mckean
