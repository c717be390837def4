// The stratified estimator: the paper's telescoping sum, centred at the pilot's estimate, with fixed numbers of
// replicates in every cell.
//
//   u_★ ≈ u_c + Σ_{l, p} E D(l, p),   D(l_min, 0) = d^{T_0},   D(l_min, p) = d^{T_p} − d^{T_{p−1}},
//   d^n = (u^n − u_c) / (1 − κ_n),   κ_n = Π_{k ≤ n} (1 − γ_k),
//   D(l, ·) the same with the difference of the two levels of Procedure 2 in place of u^n − u_c,
// in unconstrained coordinates. Chains start at u_c, with γ_n = 1/(n0 + n) times the inverse observed information, so
// that u^n is about the average of n Newton steps from u_c, weighted with u_c itself, of which κ_n = n0/(n0 + n) is
// kept. d^n is without that weight: where the score is linear it is the average of n Newton steps, and unbiased for
// every n. So D(l_min, 0) has almost all there is to know: p > 0 is there for those who want to see that nothing is
// left.
#pragma once

#include "mckean/finding.hpp"
#include "paper/multilevel.hpp"
#include "paper/probe.hpp"

namespace mckean {

struct StratifiedPlan {
  int lowest = 3, highest = 3;              // l_min and L
  std::vector<std::size_t> lengths = {32};  // T_0 < T_1 < …
  std::vector<ChainOptions> chains;         // of each level from the lowest
  Eigen::VectorXd centre;                   // u_c
  Eigen::VectorXd target;                   // of the Monte Carlo error of each u; infinite: no matter
  std::optional<std::size_t> replicates;    // instead of the target: as many as this
  Eigen::MatrixXd noise;                    // predicted covariance of u^n, times n
};

struct StratifiedResult {
  Eigen::VectorXd u, mc_se;  // in unconstrained coordinates
  std::vector<Cell> cells;   // means and standard deviations in units of θ, to first order
  std::uint64_t particle_steps = 0;
  std::size_t replicates = 0, reprojections = 0;
  bool out_of_time = false;
  Findings findings;
};

// Of a cell.
struct CellReplicate {
  Eigen::VectorXd difference;  // D(l, p)
  std::uint64_t particle_steps = 0;
  std::size_t reprojections = 0;
};
constexpr auto record_of(const CellReplicate*) {
  return record("replicate of a cell", &CellReplicate::difference, &CellReplicate::particle_steps,
                &CellReplicate::reprojections);
}
// A replicate of the cell (id.level, p).
CellReplicate run_chain(const ParticleProblem&, const StratifiedPlan&, ChainIdentity, int p, std::stop_token);

StratifiedResult estimate(Workbench&, const StratifiedPlan&);
}  // namespace mckean
