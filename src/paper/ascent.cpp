#include "paper/ascent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

constexpr std::size_t kChains = 8, kIterations = 30, kFirstPaths = 3;
constexpr double kAveraged = 1.0 / 3;  // of a chain, the last ones
constexpr int kMostRounds = 24;

// A step in unconstrained coordinates, no longer than what the linearisation can be trusted for.
Eigen::VectorXd shortened(Eigen::VectorXd step, const Eigen::VectorXd& u, double trust) {
  double factor = 1;
  for (Eigen::Index p = 0; p < step.size(); ++p)
    factor = std::min(factor, trust * (1 + std::abs(u[p])) / std::max(std::abs(step[p]), 1e-300));
  return factor * step;
}

class Climber {
 public:
  Climber(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id, const std::vector<bool>& free)
      : model_(problem.model()),
        free_(free),
        sampler_(problem, options, id),
        u_(unconstrained(model_.parameters(), options.start)),
        theta_(natural(model_.parameters(), u_)) {
    sampler_.start(theta_, options.burn_in);
  }

  void iterate() {
    try {
      const PathScore s = sampler_.advance(theta_);
      const ChainRule rule(model_.parameters(), u_, free_);
      const Eigen::VectorXd h = rule.gradient(s.gradient);
      const Eigen::MatrixXd information =
          rule.information(Eigen::Map<const Eigen::MatrixXd>(s.information.data(), u_.size(), u_.size()));
      metric_ = metric_.size() == 0 ? information : (0.7 * metric_ + 0.3 * information).eval();
      last_good_ = u_;
      u_ += shortened(pseudo_inverse(metric_) * h, u_, trust_);
      trust_ = std::min(0.5, 1.1 * trust_);
    } catch (const NumericalError&) {
      if (last_good_.size() == 0) throw;
      trust_ *= 0.3;  // the step went too far: half way back, and shorter ones from there
      u_ = last_good_ + 0.3 * (u_ - last_good_);
    }
    theta_ = through_unconstrained(model_.parameters(), natural(model_.parameters(), u_));
  }

  const Eigen::VectorXd& u() const { return u_; }
  std::uint64_t particle_steps() const { return sampler_.particle_steps(); }

 private:
  const Model& model_;
  const std::vector<bool>& free_;
  PathSampler sampler_;
  Eigen::VectorXd u_, last_good_;
  std::vector<double> theta_;  // that of u
  Eigen::MatrixXd metric_;
  double trust_ = 0.5;
};
}  // namespace

Climb climb_once(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id, std::size_t iterations,
                 const std::vector<bool>& free) {
  Climber climber(problem, options, id, free);
  const auto averaged = static_cast<std::size_t>(std::ceil(kAveraged * static_cast<double>(iterations)));
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(climber.u().size());
  for (std::size_t i = 0; i < iterations; ++i) {
    climber.iterate();
    if (i + averaged >= iterations) mean += climber.u() / static_cast<double>(averaged);
  }
  return {false, mean, climber.particle_steps()};
}

namespace {

struct Round {
  Eigen::VectorXd mean, variance;  // of the mean
  bool exploded = false;
};

Round climb_round(Workbench& bench, const std::string& group, ChainOptions options, int level, const Eigen::VectorXd& u,
                  const std::vector<bool>& free) {
  options.start = natural(bench.model().parameters(), u);
  options.burn_in = kFirstPaths;
  const std::size_t iterations = affordable(bench.problem, {u, level, options}, kIterations);
  std::vector<Task> tasks;
  for (std::uint32_t c = 0; c < kChains; ++c) tasks.push_back({group, c});
  const auto results = run_records(bench.runner, tasks, [&](std::size_t c, std::stop_token stop) {
    ChainOptions chain = options;
    chain.stop = std::move(stop);
    try {
      return bench.chains->climb(chain, {seed_of(bench.seed, group), static_cast<std::uint32_t>(c), level}, iterations,
                                 free);
    } catch (const Explosion&) {
      return Climb{true, {}, 0};
    }
  });
  Round round{Eigen::VectorXd::Zero(u.size()), Eigen::VectorXd::Zero(u.size())};
  for (const Climb& r : results) {
    if (r.exploded) return {{}, {}, true};
    bench.particle_steps += r.particle_steps;
    round.mean += r.u / kChains;
  }
  for (const Climb& r : results)
    round.variance += (r.u - round.mean).cwiseAbs2() / static_cast<double>(kChains * (kChains - 1));
  return round;
}

// θ so close to a bound, in comparison with its start, that it will not come back.
bool at_bound(const Parameter& p, double u) {
  const double theta = p.natural(u);
  const double room = std::min(theta - p.lower, p.upper - theta),
               first = std::min(p.start - p.lower, p.upper - p.start);
  return std::isfinite(room) && room < 1e-4 * first;
}
}  // namespace

Ascent climb(Workbench& bench, const std::string& group, const ChainOptions& options, int level, int highest_level,
             std::vector<bool> free) {
  const Model& model = bench.model();
  Ascent out{unconstrained(model.parameters(), options.start), false, level, std::vector<bool>(free.size())};
  Eigen::VectorXd variance;
  for (int r = 0; r < kMostRounds && !out.arrived; ++r) {
    const Round round =
        climb_round(bench, fmt::format("{} {} level {}", group, r, out.level), options, out.level, out.u, free);
    if (round.exploded) {
      if (out.level == highest_level)
        throw NumericalError(
            fmt::format("the discretised dynamics explode from the start at every level up to {}: start elsewhere, or "
                        "take finer steps",
                        highest_level));
      ++out.level;
      bench.observer.message(fmt::format("the dynamics explode; level {}", out.level));
      continue;
    }
    out.arrived = variance.size() > 0;
    for (Eigen::Index p = 0; p < out.u.size() && out.arrived; ++p)
      out.arrived = std::abs(round.mean[p] - out.u[p]) <= 3 * std::sqrt(round.variance[p] + variance[p]);
    out.u = round.mean;
    variance = round.variance;
    bench.observer.message(
        fmt::format("ascent, round {}: {}", r + 1, to_text(model.parameters(), natural(model.parameters(), out.u))));
    for (std::size_t p = 0; p < free.size(); ++p)
      if (free[p] && at_bound(model.parameters()[p], out.u[static_cast<Eigen::Index>(p)]))
        free[p] = false, out.fixed[p] = true, out.arrived = false;
  }
  return out;
}
}  // namespace mckean
