#include "paper/chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/unconstrained.hpp"
#include "paper/rule.hpp"

namespace mckean {

ChainOptions chain_options(const Model& model, std::optional<Smoother> smoother, bool finite_difference,
                           bool full_precision) {
  ChainOptions o;
  o.smoother = smoother_for(model, smoother);
  o.derivative = finite_difference ? Derivative::finite_difference : Derivative::tangent;
  o.precision = full_precision ? NormalPrecision::full : NormalPrecision::single;
  o.start = model.start_values();
  return o;
}

ChainOptions held_chain(const ParticleProblem& problem, std::span<const double> theta, const SmoothOptions& o,
                        bool finite_difference) {
  const std::size_t times = problem.schedule(o.level).grid.points.size();
  ChainOptions out = chain_options(problem.model(), o.smoother, finite_difference, o.full_precision);
  out.start.assign(theta.begin(), theta.end());
  out.particles = Rule(o.particles, "particles").at(o.level, o.level, times, 2);
  out.law_particles = Rule(o.law_particles, "law_particles").at(o.level, o.level, times);
  out.coarse_law_particles = out.law_particles;
  out.burn_in = o.burn_in;
  return out;
}

double StepRule::at(std::size_t n) const { return gamma * std::pow(n0 + static_cast<double>(n), -rho); }

namespace {

constexpr std::size_t kMostReprojections = 20;

// Half-widths of the first compact set: wide enough that a chain that converges hardly ever meets it.
double reach(double start) { return 10 * (1 + std::abs(start)); }
}  // namespace

Iterate::Iterate(const Model& model, const ChainOptions& options)
    : model_(model), options_(options), start_(unconstrained(model.parameters(), options.start)), u_(start_) {}

std::vector<double> Iterate::theta() const { return natural(model_.parameters(), u_); }

bool Iterate::move(std::size_t n, std::span<const double> score) {
  Eigen::VectorXd h = ChainRule(model_.parameters(), u_).gradient(score);
  if (options_.precondition.size() > 0) h = options_.precondition * h;
  const Eigen::VectorXd before = u_;
  u_ += options_.step.at(n) * h;
  bool inside = true;
  for (Eigen::Index p = 0; p < u_.size(); ++p)
    inside = inside && std::abs(u_[p] - start_[p]) <= std::ldexp(reach(start_[p]), static_cast<int>(reprojections_));
  if (inside) return true;
  const bool finite = u_.allFinite();
  if (!finite) u_ = before;
  return_to_start(fmt::format("the last {} {}", finite ? "at" : "by a step without a finite value from",
                              to_text(model_.parameters(), theta())));
  return false;
}

void Iterate::return_to_start(const std::string& reason) {
  if (++reprojections_ > kMostReprojections)
    throw NumericalError(
        fmt::format("the chain has left {} growing compact sets, {}; take shorter steps, or start elsewhere",
                    kMostReprojections, reason));
  u_ = start_;
}

Chain::Chain(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id)
    : options_(options), iterate_(problem.model(), options_), sampler_(problem, options, id) {
  sampler_.start(theta(), options_.burn_in);
}

void Chain::advance() {
  ++moves_;
  const auto now = theta();
  bool stays = true;
  sampler_.attempt(now, [&] {
    try {
      sampler_.draw(now);
      stays = iterate_.move(moves_, sampler_.score(now).gradient);
    } catch (const Explosion& e) {
      iterate_.return_to_start(e.what());
      stays = false;
    }
  });
  if (!stays) sampler_.start(theta(), options_.burn_in);
}

CoupledChain::CoupledChain(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id)
    : options_(options),
      fine_(problem.model(), options_),
      coarse_(problem.model(), options_),
      sampler_(problem, options, id) {
  begin();
}

void CoupledChain::begin() {
  const ThetaPair now{fine(), coarse()};
  sampler_.attempt(now.fine, [&] { sampler_.begin(now); });
  for (std::size_t i = 0; i < options_.burn_in; ++i) sampler_.attempt(now.fine, [&] { sampler_.draw(now); });
}

bool CoupledChain::move(const ThetaPair& now) {
  sampler_.draw(now);
  const auto [h, coarse_h] = sampler_.scores(now);
  const bool stays = fine_.move(moves_, h.gradient), coarse_stays = coarse_.move(moves_, coarse_h.gradient);
  return stays && coarse_stays;
}

void CoupledChain::advance() {
  ++moves_;
  const ThetaPair now{fine(), coarse()};
  bool stays = true;
  sampler_.attempt(now.fine, [&] {
    try {
      stays = move(now);
    } catch (const Explosion& e) {
      fine_.return_to_start(e.what());
      coarse_.return_to_start(e.what());
      stays = false;
    }
  });
  if (!stays) begin();
}
}  // namespace mckean
