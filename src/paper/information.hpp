// Information matrices at a parameter value, from chains that hold θ and move paths.
#pragma once

#include "paper/chain.hpp"
#include "paper/record.hpp"

namespace mckean {

struct HeldOptions {
  std::size_t iterations = 100;
  bool curvature = true;  // also −∇² log p(x, y), for Louis' identity: 2 more laws for each parameter and iteration
};

// Means over one chain, the burn-in left out.
struct HeldMoments {
  Eigen::VectorXd score;      // E H
  Eigen::MatrixXd squares;    // E H Hᵀ
  Eigen::MatrixXd complete;   // E [Σ Δ gᵀΣ⁻¹g + observation part]
  Eigen::MatrixXd curvature;  // E [−∂H/∂θ], by central differences along the path with the law's noise held
  Eigen::MatrixXd law_noise;  // E Var(H | path): what the law inside H adds to its variance; with the curvature
  double renewal = 0;         // share of iterations that renewed a path where that happens least; over all series
  std::uint64_t particle_steps = 0;
};
constexpr auto record_of(const HeldMoments*) {
  return record("moments of a chain", &HeldMoments::score, &HeldMoments::squares, &HeldMoments::complete,
                &HeldMoments::curvature, &HeldMoments::law_noise, &HeldMoments::renewal, &HeldMoments::particle_steps);
}
HeldMoments held_moments(const ParticleProblem&, const ChainOptions&, ChainIdentity, const HeldOptions&);

HeldMoments average(std::span<const HeldMoments>);

// Louis: I = E[−∇² log p(x, y)] − Var(H), expectations under the smoother.
Eigen::MatrixXd observed_information(const HeldMoments&);

// The same in unconstrained coordinates of unbounded parameters: J I J with J = dθ/du.
Eigen::MatrixXd unconstrained_information(const Model&, std::span<const double> theta,
                                          const Eigen::MatrixXd& information);
}  // namespace mckean
