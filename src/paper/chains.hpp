// What a fit by scores asks of chains: every answer a pure function of its arguments. Particles give it; formulas may.
#pragma once

#include <memory>

#include "paper/information.hpp"

namespace mckean {

struct Climb;           // paper/ascent.hpp
struct StratifiedPlan;  // paper/stratified.hpp
struct CellReplicate;

class Chains {
 public:
  virtual ~Chains() = default;
  // θ stays at the start. Throws NumericalError.
  virtual HeldMoments moments(const ChainOptions&, ChainIdentity, const HeldOptions&) const = 0;
  // Every iteration moves the parameters that are free, uphill. Throws Explosion.
  virtual Climb climb(const ChainOptions&, ChainIdentity, std::size_t iterations,
                      const std::vector<bool>& free) const = 0;
  // A replicate of the cell (id.level, p).
  virtual CellReplicate replicate(const StratifiedPlan&, ChainIdentity, int p, std::stop_token) const = 0;
};

// The problem must outlive them.
std::shared_ptr<const Chains> particle_chains(const ParticleProblem&);
}  // namespace mckean
