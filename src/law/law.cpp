#include "law/law_run.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "mckean/error.hpp"

namespace mckean {

void LawPath::append_inputs(std::size_t point, std::vector<double>& to) const {
  for (std::size_t i = 0; i < inputs.count(); ++i) to.push_back(inputs[i][point]);
}

void report_overflow(const Model& model, std::span<const double> theta, int level, double time, const char* who) {
  throw Explosion(
      fmt::format("model '{}': {} overflow or are undefined by t = {:.6g}, level {}, with {}; the steps may be "
                  "too long (raise the level), or the dynamics explode or have a pole at these values",
                  model.name(), who, time, level, to_text(model.parameters(), theta)));
}

namespace {

// Index of the first rank, from that of the options on, with which draw(setting) succeeds: the last, 0, is pairwise and
// always does.
template <class Draw>
std::size_t with_enough_rank(LawSetting setting, Draw&& draw) {
  const auto& ranks = setting.system.ranks();
  const LawOptions& options = setting.options;
  std::size_t r = options.first_rank;
  // Differences are taken of particles; and a law on cells is drawn again only for one that they do not serve.
  if (ranks.front() == 1 && (options.derivative == Derivative::finite_difference || options.margin > 1))
    r = ranks.size() - 1;
  for (;; ++r) {
    assert(r < ranks.size());
    setting.rank = ranks[r];
    if (draw(setting) == LawStatus::good) return r;
  }
}

LawStatus run(const LawSetting& setting, const Dynamics& dynamics, const LawPoint& at, LawWatcher watch,
              const LawPath* windows = nullptr) {
  LawRun law(setting, dynamics, at, setting.options.particles, std::move(watch), windows);
  FreshNoise noise = setting.path_noise(dynamics);
  LawStatus status = law.start();
  for (std::size_t k = 0; k < at.grid.steps() && status == LawStatus::good; ++k) status = law.step(k, noise);
  return status;
}

LawStatus draw_once(const LawSetting& setting, const LawPoint& at, LawPath& path, const LawPath* windows = nullptr) {
  path = empty_law_path(setting.dynamics(at.grid), setting.options.particles, at.grid);
  if (!path.dynamics->reads_law()) return LawStatus::good;
  return run(setting, *path.dynamics, at, recorder(path), windows);
}

// The paper's derivative: the law again at θ − Δ_l e_j with the same Brownian increments, by draw(θ, to).
template <class Draw>
LawStatus add_finite_differences(LawPath& law, const LawPoint& at, Draw&& draw) {
  const double delta = std::ldexp(1.0, -at.grid.level);
  const std::size_t n = law.inputs.count(), parameters = law.dynamics->dynamic.size();
  const std::size_t columns = law.position_columns, all = columns * (1 + parameters);
  Columns tangents(n * parameters, law.points);
  std::vector<double> positions(law.points * all * law.stride());
  const auto place = [&](std::size_t point, std::size_t column) {
    return positions.data() + (point * all + column) * law.stride();
  };
  for (std::size_t k = 0; k < law.points && columns > 0; ++k)
    std::copy_n(law.position(k, 0), columns * law.stride(), place(k, 0));
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<double> shifted(at.theta.begin(), at.theta.end());
    shifted[law.dynamics->dynamic[p]] -= delta;
    LawPath there;
    if (const LawStatus status = draw(shifted, there); status != LawStatus::good) return status;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < law.points; ++k)
        tangents[p * n + i][k] = (law.inputs[i][k] - there.inputs[i][k]) / delta;
    for (std::size_t k = 0; k < law.points && columns > 0; ++k)
      for (std::size_t i = 0; i < columns * law.stride(); ++i)
        place(k, columns * (1 + p))[i] = (law.position(k, 0)[i] - there.position(k, 0)[i]) / delta;
  }
  law.tangents = std::move(tangents);
  law.positions = std::move(positions);
  law.position_columns = all;
  return LawStatus::good;
}
}  // namespace

LawStatus run_law(const System& system, const LawPoint& at, const LawNoise& noise, const LawOptions& options,
                  const LawWatcher& watch, const Kernels& kernels) {
  const LawSetting setting{system, noise, options, kernels, system.ranks()[options.first_rank]};
  return run(setting, *setting.dynamics(at.grid), at, watch);
}

LawPath draw_law(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
                 const LawOptions& options, const Kernels& kernels) {
  const LawPoint at{grid, theta};
  LawPath law;
  with_enough_rank({system, noise, options, kernels, 0}, [&](const LawSetting& setting) {
    const LawStatus status = draw_once(setting, at, law);
    if (status != LawStatus::good || options.derivative != Derivative::finite_difference) return status;
    return add_finite_differences(law, at, [&](std::span<const double> shifted, LawPath& to) {
      return draw_once(setting, {grid, shifted}, to, &law);
    });
  });
  return law;
}

namespace {

using LawPair = std::pair<LawPath, LawPath>;

LawStatus run_pair(const LawSetting& setting, const LawPoint& fine, const LawPoint& coarse,
                   std::size_t coarse_particles, const std::pair<LawWatcher, LawWatcher>& watch,
                   const LawPair* windows = nullptr) {
  const auto dynamics = setting.dynamics(fine.grid);
  LawRun upper(setting, *dynamics, fine, setting.options.particles, watch.first, windows ? &windows->first : nullptr);
  LawRun lower(setting, *dynamics, coarse, coarse_particles, watch.second, windows ? &windows->second : nullptr);
  FreshNoise shared = setting.path_noise(*dynamics, FreshNoise::Buffer::pairs);
  CoarseNoise halves(shared, coarse_particles);
  LawStatus status = upper.start();
  if (status == LawStatus::good) status = lower.start();
  for (std::size_t k = 0; k < coarse.grid.steps() && status == LawStatus::good; ++k) {
    status = upper.step(2 * k, shared);
    if (status == LawStatus::good) status = upper.step(2 * k + 1, shared);
    if (status == LawStatus::good) status = lower.step(k, halves);
  }
  return status;
}

LawStatus draw_pair(const LawSetting& setting, const LawPoint& fine, const LawPoint& coarse,
                    std::size_t coarse_particles, LawPair& paths, const LawPair* windows = nullptr) {
  const auto dynamics = setting.dynamics(fine.grid);
  paths = {empty_law_path(dynamics, setting.options.particles, fine.grid),
           empty_law_path(dynamics, coarse_particles, coarse.grid)};
  if (!dynamics->reads_law()) return LawStatus::good;
  return run_pair(setting, fine, coarse, coarse_particles, {recorder(paths.first), recorder(paths.second)}, windows);
}

// Each level is shifted by its own Δ, both with the increments of the pair.
LawStatus add_finite_differences(const LawSetting& setting, const LawPoint& fine, const LawPoint& coarse,
                                 LawPair& laws) {
  const std::size_t coarse_particles = laws.second.particles;
  LawPair there;
  const LawStatus status = add_finite_differences(laws.first, fine, [&](std::span<const double> shifted, LawPath& to) {
    const LawStatus drawn = draw_pair(setting, {fine.grid, shifted}, coarse, coarse_particles, there, &laws);
    to = std::move(there.first);
    return drawn;
  });
  if (status != LawStatus::good) return status;
  return add_finite_differences(laws.second, coarse, [&](std::span<const double> shifted, LawPath& to) {
    const LawStatus drawn = draw_pair(setting, fine, {coarse.grid, shifted}, coarse_particles, there, &laws);
    to = std::move(there.second);
    return drawn;
  });
}
}  // namespace

std::pair<LawPath, LawPath> draw_coupled_laws(const System& system, const LawPoint& fine, const LawPoint& coarse,
                                              const LawNoise& noise, const LawOptions& options,
                                              std::size_t coarse_particles, const Kernels& kernels) {
  LawPair laws;
  with_enough_rank({system, noise, options, kernels, 0}, [&](const LawSetting& setting) {
    const LawStatus status = draw_pair(setting, fine, coarse, coarse_particles, laws);
    if (status != LawStatus::good || options.derivative != Derivative::finite_difference) return status;
    return add_finite_differences(setting, fine, coarse, laws);
  });
  return laws;
}

LawStatus run_coupled_laws(const System& system, const LawPoint& fine, const LawPoint& coarse, const LawNoise& noise,
                           const LawOptions& options, const std::pair<LawWatcher, LawWatcher>& watch,
                           const Kernels& kernels) {
  const LawSetting setting{system, noise, options, kernels, system.ranks()[options.first_rank]};
  return run_pair(setting, fine, coarse, options.particles, watch);
}

std::size_t find_rank(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
                      const LawOptions& options) {
  if (system.ranks().size() == 1) return 0;  // nothing to choose
  return with_enough_rank({system, noise, options, kernels(), 0}, [&](const LawSetting& setting) {
    return run(setting, *setting.dynamics(grid), {grid, theta}, [](std::size_t, const Cloud&) {});
  });
}
}  // namespace mckean
