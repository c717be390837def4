#include "law/law.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mckean/error.hpp"

namespace mckean {

void LawPath::append_inputs(std::size_t point, std::vector<double>& to) const {
  for (std::size_t i = 0; i < inputs.count(); ++i) to.push_back(inputs[i][point]);
}

void report_overflow(const Model& model, std::span<const double> theta, int level, double time, const char* who) {
  throw Explosion(
      fmt::format("model '{}': {} overflow or are undefined by t = {:.6g}, level {}, with {}; the Euler steps may "
                  "be too long (raise the level), or the dynamics explode or have a pole at these values",
                  model.name(), who, time, level, to_text(model.parameters(), theta)));
}

namespace {

// One cloud on its grid: checked at every point, and shown to the watcher.
class Runner {
 public:
  Runner(const System& system, const Grid& grid, std::span<const double> theta, const Dynamics& dynamics,
         std::size_t particles, const LawOptions& options, const Kernels& kernels, LawWatcher watch)
      : model_(system.model()),
        grid_(grid),
        theta_(theta),
        options_(options),
        cloud_(model_, dynamics, particles, kernels),
        watch_(std::move(watch)) {
    cloud_.set_parameters(theta);
  }

  void start(const LawNoise& noise) {
    cloud_.start(noise.start, options_.precision);
    arrive(0);
  }

  void step(std::size_t k, NoiseSource& noise) {
    cloud_.advance(k, grid_.step[k], grid_.time[k + 1], noise);
    arrive(k + 1);
  }

  void use_windows_of(const LawPath& other) { windows_ = &other; }

 private:
  void arrive(std::size_t k) {
    // A number that is not finite stays so, and moments need not show it: look now and then, and at the end.
    if ((k % 16 == 0 || k == grid_.steps()) && !cloud_.finite())
      report_overflow(model_, theta_, grid_.level, grid_.time[k], "the particles of the law");
    given_.clear();
    if (windows_) windows_->append_inputs(k, given_);
    cloud_.measure(grid_.time[k], options_.margin, windows_ ? given_.data() : nullptr);
    for (const auto* values : {&cloud_.inputs(), &cloud_.tangents()})
      for (const double v : *values)
        if (!std::isfinite(v)) report_overflow(model_, theta_, grid_.level, grid_.time[k], "the moments of the law");
    watch_(k, cloud_);
  }

  const Model& model_;
  const Grid& grid_;
  std::span<const double> theta_;
  const LawOptions& options_;
  Cloud cloud_;
  LawWatcher watch_;
  const LawPath* windows_ = nullptr;
  std::vector<double> given_;
};

LawPath empty_path(std::shared_ptr<const Dynamics> dynamics, std::size_t particles, const Grid& grid) {
  LawPath path;
  path.dynamics = std::move(dynamics);
  path.particles = particles;
  path.points = grid.steps() + 1;
  const Dynamics& d = *path.dynamics;
  path.inputs = Columns(d.inputs(), path.points);
  if (d.tangents) path.tangents = Columns(d.inputs() * d.dynamic.size(), path.points);
  if (!d.field.pairwise.empty()) path.position_columns = d.dimension + d.tangents;
  return path;
}

LawWatcher recorder(LawPath& path) {
  return [&path](std::size_t k, const Cloud& cloud) {
    for (std::size_t i = 0; i < path.inputs.count(); ++i) path.inputs[i][k] = cloud.inputs()[i];
    for (std::size_t i = 0; i < path.tangents.count(); ++i) path.tangents[i][k] = cloud.tangents()[i];
    for (std::size_t c = 0; c < path.position_columns; ++c)
      path.positions.insert(path.positions.end(), cloud.state()[c], cloud.state()[c] + path.stride());
  };
}

// Calls draw(rank) with growing ranks until the expansions are accurate; rank 0 is pairwise and always is.
template <class Draw>
auto with_enough_rank(const System& system, std::size_t first, Draw&& draw) {
  for (std::size_t r = first;; ++r) {
    try {
      return std::pair(draw(system.ranks()[r]), r);
    } catch (const RankTooLow&) {
      if (r + 1 == system.ranks().size()) throw;
    }
  }
}

void run(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
         const LawOptions& options, const Dynamics& dynamics, const Kernels& kernels, const LawWatcher& watch,
         const LawPath* windows = nullptr) {
  Runner law(system, grid, theta, dynamics, options.particles, options, kernels, watch);
  if (windows) law.use_windows_of(*windows);
  law.start(noise);
  FreshNoise fresh({kernels, options.precision, noise.path, 0, dynamics.sources}, options.particles);
  for (std::size_t k = 0; k < grid.steps(); ++k) law.step(k, fresh);
}

LawPath draw_once(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
                  const LawOptions& options, std::size_t rank, const Kernels& kernels,
                  const LawPath* windows = nullptr) {
  LawPath path = empty_path(system.dynamics(rank, options.derivative == Derivative::tangent), options.particles, grid);
  if (!path.dynamics->reads_law()) return path;
  run(system, grid, theta, noise, options, *path.dynamics, kernels, recorder(path), windows);
  return path;
}

// The paper's derivative: the law again at θ − Δ_l e_j with the same Brownian increments. draw(θ, windows) runs it.
template <class Draw>
void add_finite_differences(LawPath& law, std::span<const double> theta, double delta, Draw&& draw) {
  const std::size_t n = law.inputs.count(), parameters = law.dynamics->dynamic.size();
  const std::size_t columns = law.position_columns, all = columns * (1 + parameters);
  law.tangents = Columns(n * parameters, law.points);
  std::vector<double> positions(law.points * all * law.stride());
  const auto place = [&](std::size_t point, std::size_t column) {
    return positions.data() + (point * all + column) * law.stride();
  };
  for (std::size_t k = 0; k < law.points && columns > 0; ++k)
    std::copy_n(law.position(k, 0), columns * law.stride(), place(k, 0));
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<double> shifted(theta.begin(), theta.end());
    shifted[law.dynamics->dynamic[p]] -= delta;
    const LawPath there = draw(shifted, law);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < law.points; ++k)
        law.tangents[p * n + i][k] = (law.inputs[i][k] - there.inputs[i][k]) / delta;
    for (std::size_t k = 0; k < law.points && columns > 0; ++k)
      for (std::size_t i = 0; i < columns * law.stride(); ++i)
        place(k, columns * (1 + p))[i] = (law.position(k, 0)[i] - there.position(k, 0)[i]) / delta;
  }
  law.positions = std::move(positions);
  law.position_columns = all;
}
}  // namespace

void run_law(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
             const LawOptions& options, std::size_t rank, const Kernels& kernels, const LawWatcher& watch) {
  run(system, grid, theta, noise, options, *system.dynamics(rank, options.derivative == Derivative::tangent), kernels,
      watch);
}

LawPath draw_law(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
                 const LawOptions& options, const Kernels& kernels) {
  auto [law, rank] = with_enough_rank(system, options.first_rank, [&](std::size_t r) {
    LawPath base = draw_once(system, grid, theta, noise, options, r, kernels);
    if (options.derivative == Derivative::finite_difference)
      add_finite_differences(base, theta, std::ldexp(1.0, -grid.level),
                             [&](std::span<const double> shifted, const LawPath& windows) {
                               return draw_once(system, grid, shifted, noise, options, r, kernels, &windows);
                             });
    return base;
  });
  return std::move(law);
}

namespace {

std::pair<LawPath, LawPath> draw_pair(const System& system, const Grid& fine, const Grid& coarse,
                                      std::span<const double> theta, std::span<const double> coarse_theta,
                                      const LawNoise& noise, const LawOptions& options, std::size_t coarse_particles,
                                      std::size_t rank, const Kernels& kernels,
                                      const std::pair<LawPath, LawPath>* windows = nullptr) {
  const auto dynamics = system.dynamics(rank, options.derivative == Derivative::tangent);
  std::pair paths(empty_path(dynamics, options.particles, fine), empty_path(dynamics, coarse_particles, coarse));
  if (!dynamics->reads_law()) return paths;
  Runner upper(system, fine, theta, *dynamics, options.particles, options, kernels, recorder(paths.first));
  Runner lower(system, coarse, coarse_theta, *dynamics, coarse_particles, options, kernels, recorder(paths.second));
  if (windows) upper.use_windows_of(windows->first), lower.use_windows_of(windows->second);
  upper.start(noise);
  lower.start(noise);
  FreshNoise shared({kernels, options.precision, noise.path, 0, dynamics->sources}, options.particles,
                    FreshNoise::Hold::pairs);
  CoarseNoise halves(shared, coarse_particles);
  for (std::size_t k = 0; k < coarse.steps(); ++k) {
    upper.step(2 * k, shared);
    upper.step(2 * k + 1, shared);
    lower.step(k, halves);
  }
  return paths;
}
}  // namespace

std::pair<LawPath, LawPath> draw_coupled_laws(const System& system, const Grid& fine, const Grid& coarse,
                                              std::span<const double> theta, std::span<const double> coarse_theta,
                                              const LawNoise& noise, const LawOptions& options,
                                              std::size_t coarse_particles, const Kernels& kernels) {
  auto [laws, rank] = with_enough_rank(system, options.first_rank, [&](std::size_t r) {
    auto both = draw_pair(system, fine, coarse, theta, coarse_theta, noise, options, coarse_particles, r, kernels);
    if (options.derivative == Derivative::finite_difference) {
      // Each level is shifted by its own Δ, both with the increments of the pair.
      const auto again = [&](std::span<const double> a, std::span<const double> b) {
        return draw_pair(system, fine, coarse, a, b, noise, options, coarse_particles, r, kernels, &both);
      };
      add_finite_differences(both.first, theta, std::ldexp(1.0, -fine.level),
                             [&](std::span<const double> s, const LawPath&) { return again(s, coarse_theta).first; });
      add_finite_differences(both.second, coarse_theta, std::ldexp(1.0, -coarse.level),
                             [&](std::span<const double> s, const LawPath&) { return again(theta, s).second; });
    }
    return both;
  });
  return std::move(laws);
}

std::size_t find_rank(const System& system, const Grid& grid, std::span<const double> theta, const LawNoise& noise,
                      const LawOptions& options) {
  if (system.ranks().size() == 1) return 0;  // nothing to choose
  return with_enough_rank(system, options.first_rank,
                          [&](std::size_t r) {
                            run_law(system, grid, theta, noise, options, r, kernels(),
                                    [](std::size_t, const Cloud&) {});
                            return r;
                          })
      .second;
}
}  // namespace mckean
