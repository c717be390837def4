// Chains of which everything is known: scores are a function plus normal noise of a given variance, replicates of a
// cell have a given mean and spread. For tests of fits by scores, in milliseconds. Parameters have no bounds, so that
// their unconstrained coordinates are their own.
#pragma once

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>

#include "infer/search/normal_draws.hpp"
#include "law/law.hpp"
#include "mckean/model.hpp"
#include "model/unconstrained.hpp"
#include "paper/ascent.hpp"
#include "paper/stratified.hpp"
#include "unit/synthetic_engine.hpp"

namespace mckean {

struct SyntheticChains : Chains {
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::MatrixXd;

  // E H at u, at a level, with N particles of the law.
  std::function<Vector(const Vector& u, int level, double law)> score;
  Matrix complete, noise;     // complete-data information; variance of H in one iteration
  double of_law = 0.2;        // the law's share of that
  double renewal_scale = 10;  // particles that renew 63 % of a path
  int least_level = 0;        // below which the dynamics explode

  // Of the cell (level, p), of all parameters alike.
  std::function<double(int level, int p)> cell_mean = [](int, int) { return 0.0; };
  std::function<double(int level, int p)> cell_sd = [](int, int) { return 1.0; };
  std::function<double(int level, int p)> cell_cost = [](int, int) { return 1.0; };

  static search::NormalDraws draws(const ChainIdentity& id, const std::string& what) {
    return search::NormalDraws(seed_of(id.seed, what + " " + std::to_string(id.replicate)));
  }

  HeldMoments moments(const ChainOptions& options, ChainIdentity id, const HeldOptions& held) const override {
    const Vector u = Vector::Map(options.start.data(), static_cast<Eigen::Index>(options.start.size()));
    if (id.level < least_level) throw NumericalError("an explosion");
    auto normal = draws(id, "moments");
    const auto n = static_cast<double>(held.iterations);
    HeldMoments out;
    out.score = score(u, id.level, static_cast<double>(options.law_particles)) +
                Matrix(noise.llt().matrixL()) * normal.next(u.size()) / std::sqrt(n);
    out.squares = out.score * out.score.transpose() + noise * (1 + std::sqrt(2 / n) * normal.next());
    out.complete = out.curvature = complete;
    out.law_noise = of_law * noise;
    out.renewal = 1 - std::exp(-static_cast<double>(options.particles) / renewal_scale);
    out.particle_steps = held.iterations;
    return out;
  }

  // Newton's steps with the complete-data information; their last third is averaged.
  Climb climb(const ChainOptions& options, ChainIdentity id, std::size_t iterations,
              const std::vector<bool>& free) const override {
    if (id.level < least_level) throw Explosion("an explosion");
    auto normal = draws(id, "climb");
    Vector u = Vector::Map(options.start.data(), static_cast<Eigen::Index>(options.start.size()));
    Vector mean = Vector::Zero(u.size());
    const std::size_t averaged = iterations / 3;
    for (std::size_t i = 0; i < iterations; ++i) {
      const Vector h = score(u, id.level, static_cast<double>(options.law_particles)) +
                       Matrix(noise.llt().matrixL()) * normal.next(u.size());
      const Vector step = complete.llt().solve(h);
      for (Eigen::Index p = 0; p < u.size(); ++p)
        if (free[static_cast<std::size_t>(p)]) u[p] += step[p];
      if (i + averaged >= iterations) mean += u / static_cast<double>(averaged);
    }
    return {false, mean, iterations};
  }

  CellReplicate replicate(const StratifiedPlan& plan, ChainIdentity id, int p, std::stop_token) const override {
    auto normal = draws(id, "replicate");
    const Vector mean = Vector::Constant(plan.centre.size(), cell_mean(id.level, p));
    return {mean + cell_sd(id.level, p) * normal.next(mean.size()),
            static_cast<std::uint64_t>(std::llround(cell_cost(id.level, p))), 0};
  }
};

// A problem with two parameters and a law, of which the fit sees its sizes alone.
struct SyntheticFit {
  Model model = parse_model(R"toml(
[state]
x = 0
[parameters]
a = 0
b = 0
[interaction]
m = "x'"
[drift]
x = "a - x + 0.1*b*(m - x)"
[diffusion]
x = 1
[observation]
y = "normal(x, 1)"
)toml",
                            "synthetic.toml");
  ParticleProblem problem{{model, {"synthetic.csv", {"y"}, {{"", {1, 2, 3}, {0.1, -0.4, 0.3}, {1, 2, 3}}}}}, 3, 1};
  std::shared_ptr<SyntheticChains> chains = std::make_shared<SyntheticChains>();
  search::SerialRunner runner;
  struct Listener : FitObserver {
    std::string heard;
    void message(std::string_view text) override { heard += std::string(text) + "\n"; }
  } listener;

  Eigen::MatrixXd information{{4, 1.5}, {1.5, 2}};
  Eigen::VectorXd top{{0.7, -0.4}};

  // −½ (u − top)ᵀ I (u − top), of which the complete data would know `times` as much.
  explicit SyntheticFit(double times = 6) {
    chains->score = [this](const Eigen::VectorXd& u, int, double) { return Eigen::VectorXd(information * (top - u)); };
    chains->complete = times * information, chains->noise = (times - 1) * information;
  }
  SyntheticFit(const SyntheticFit&) = delete;
  SyntheticFit& operator=(const SyntheticFit&) = delete;

  Workbench bench(std::uint64_t seed = 1) { return {problem, runner, listener, seed, 0, chains}; }
  Eigen::MatrixXd covariance() const { return information.inverse(); }
};
}  // namespace mckean
