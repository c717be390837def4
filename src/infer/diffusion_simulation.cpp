// A simulation of the diffusion itself: how finely and with how many particles it has to be done is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/law_errors.hpp"
#include "infer/law_records.hpp"
#include "mckean/simulate.hpp"
#include "problem/grid.hpp"
#include "step/dynamics.hpp"

namespace mckean {
namespace {

constexpr int kFirstLevel = 1, kLastLevel = 12;  // of the finer of two
constexpr std::size_t kPairs = 16, kSystems = 8;
constexpr std::size_t kLeast = 1024, kMost = std::size_t{1} << 20;
constexpr std::size_t kLeastOfPairs = 256;  // where a step costs the square of their number, or cells
constexpr std::size_t kMostTimes = 1000;    // that are looked at
// Of the tolerance: what the Monte Carlo error of a change may be, the chance of the law, and what sizes aim at.
constexpr double kKnown = 0.5, kChance = 2, kAim = 0.8 * kChance;
// A size is looked at by laws of an eighth of it, and known where those are at least a twelfth.
constexpr std::size_t kShare = 8, kLeastShare = 12;

// Upwards, to two digits.
std::size_t rounded(double n) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(n)) - 1));
  return static_cast<std::size_t>(std::ceil(n / unit - 1e-9) * unit);
}

void require_finite(const LawTrack& track, int level) {
  for (const auto* values : {&track.mean, &track.variance})
    for (const double v : *values)
      if (!std::isfinite(v))
        throw NumericalError(
            fmt::format("the variance of the law overflows at level {}; the steps may be too long", level));
}

class Chooser {
 public:
  Chooser(const Model& model, std::span<const double> theta, std::span<const double> times,
          const DiffusionSimulationOptions& options, TaskRunner& runner)
      : theta_(theta), times_(times), options_(options), runner_(runner), system_(model) {
    dynamics_ = system_.dynamics(options.scheme, system_.ranks().front(), false);
    cost_ = dynamics_->cost();
    if (options.scheme == Scheme::splitting)  // the noise of either half has normals of its own
      cost_ += kNormalCost / kTypicalCost * static_cast<double>(dynamics_->sources);
    squared_ = !dynamics_->field.pairwise.empty() && !dynamics_->cells;
    n_ = dynamics_->field.pairwise.empty() ? kLeast : kLeastOfPairs;
  }

  // Steps that are too long for a few particles only are found late.
  DiffusionSimulation run() {
    for (;; ++level_) {
      try {
        const bool steps = choose_steps(), size = choose_size();
        out_.settings = {.level = level_,
                         .scheme = options_.scheme,
                         .law_particles = size_,
                         .series = options_.series,
                         .seed = options_.seed,
                         .full_precision = options_.full_precision};
        out_.reached = steps && size;
        return out_;
      } catch (const NumericalError&) {
        if (level_ >= kLastLevel || !affords_pairs(level_ + 1, n_)) throw;
      }
    }
  }

 private:
  const Model& model() const { return system_.model(); }
  Grid grid(int level) const { return with_states_between(Grid(times_, level, 0, options_.scheme)); }

  // A flow and the noise that belongs to it are a step.
  double steps(int level) const {
    const double halves = options_.scheme == Scheme::splitting ? 2 : 1;
    return static_cast<double>(grid(level).steps()) / halves;
  }
  double work(int level, std::size_t laws, std::size_t particles) const {
    const auto n = static_cast<double>(particles);
    return static_cast<double>(laws) * n * steps(level) * cost_ * (squared_ ? n : 1);
  }
  double pairs_work(int level, std::size_t n) const { return work(level, kPairs, n) + work(level - 1, kPairs, n); }
  bool affords(double work) const { return work_ + work <= options_.most_work; }
  bool affords_pairs(int level, std::size_t n) const { return affords(pairs_work(level, n)); }
  std::vector<std::size_t> points(const Grid& grid) const {
    const std::size_t all = grid.points.size(), n = std::min(all, kMostTimes);
    std::vector<std::size_t> out;
    for (std::size_t i = 1; i <= n; ++i) out.push_back(grid.points[i * all / n - 1]);
    return out;
  }
  LawOptions law_options(std::size_t n) const {
    return {.particles = n, .precision = options_.full_precision ? NormalPrecision::full : NormalPrecision::single};
  }

  LawPairTrack draw_pair(std::uint32_t number, const Grid& fine, const Grid& coarse) const {
    const auto level = static_cast<std::uint32_t>(level_);
    const LawNoise noise{{options_.seed, number, level, Purpose::law_start},
                         {options_.seed, number, level, Purpose::law}};
    LawOptions law = law_options(n_);
    LawPairTrack out;
    const std::pair watch{track_writer(model(), points(fine), out.fine),
                          track_writer(model(), points(coarse), out.coarse)};
    while (run_coupled_laws(system_, {fine, theta_}, {coarse, theta_}, noise, law, watch) != LawStatus::good)
      ++law.first_rank;
    require_finite(out.fine, level_), require_finite(out.coarse, level_ - 1);
    return out;
  }

  // The first of them is the system that is observed in the end.
  LawTrack draw_system(std::uint32_t number, const Grid& at, std::size_t n) const {
    const LawNoise noise{{options_.seed, number, 0, Purpose::data_start},
                         {options_.seed, number, 0, Purpose::data_path}};
    LawOptions law = law_options(n);
    LawTrack out;
    const LawWatcher watch = track_writer(model(), points(at), out);
    while (run_law(system_, {at, theta_}, noise, law, watch) != LawStatus::good) ++law.first_rank;
    if (n > 1) require_finite(out, level_);  // one particle has no variance
    return out;
  }

  // Tasks of so many particle-steps each.
  template <class Draw>
  auto draw_all(std::size_t count, const std::string& group, double particle_steps, Draw&& draw) {
    out_.particle_steps += count * static_cast<std::uint64_t>(particle_steps);
    std::vector<Task> tasks;
    for (std::uint32_t r = 0; r < count; ++r) tasks.push_back({group, r, particle_steps});
    return run_records(runner_, tasks, [&](std::size_t r, const std::stop_token&) { return draw(tasks[r].index); });
  }

  std::vector<LawPairTrack> draw_pairs() {
    const Grid fine = grid(level_), coarse = grid(level_ - 1);
    work_ += pairs_work(level_, n_);
    return draw_all(kPairs, fmt::format("two laws level {} particles {}", level_, n_),
                    static_cast<double>(n_) * (steps(level_) + steps(level_ - 1)),
                    [&](std::uint32_t r) { return draw_pair(r, fine, coarse); });
  }
  std::vector<LawTrack> draw_systems(std::size_t count, std::size_t n) {
    const Grid at = grid(level_);
    work_ += work(level_, count, n);
    return draw_all(count, fmt::format("systems level {} particles {}", level_, n),
                    static_cast<double>(n) * steps(level_), [&](std::uint32_t r) { return draw_system(r, at, n); });
  }

  // Twice as many steps until that does not matter, and once more than needed: what is left is a third of the last
  // change, or less. False where it cannot be told.
  bool choose_steps() {
    const double tolerance = options_.tolerance;
    for (;;) {
      pairs_ = draw_pairs();
      scale_ = law_scales(pairs_, model().dimension());
      const LawChange change = change_by_steps(pairs_, scale_, model().dimension());
      const bool known = change.error <= kKnown * tolerance;
      out_.steps = change.value;
      if (change.clearly <= tolerance && !known) {
        if (!affords_pairs(level_, 4 * n_)) return out_.steps.reset(), false;
        n_ *= 4;
        continue;
      }
      if (change.clearly <= tolerance && change.value <= tolerance) return true;
      if (level_ == kLastLevel || !affords_pairs(level_ + 1, n_)) return false;
      ++level_;
    }
  }

  // As many particles as chance allows, never fewer than are wanted.
  bool choose_size() {
    const std::size_t least = std::max(options_.series, options_.shown);
    size_ = options_.law_particles > 0 ? options_.law_particles : least;
    if (!dynamics_->reads_law()) {
      out_.law = 0;
      draw_systems(1, size_);
      return true;
    }
    if (options_.law_particles > 0) {
      if (affords(work(level_, kSystems, size_)))
        out_.law = chance_of_means(draw_systems(kSystems, size_), scale_, model().dimension());
      return true;
    }
    std::vector<LawTrack> laws;
    for (const LawPairTrack& p : pairs_) laws.push_back(p.fine);
    return choose_size_by_chance(laws, std::max(least, std::min(n_, kLeast)));
  }

  // By laws of n particles, then by such of a share of what these say is needed, until both agree: chance falls with
  // the square root of their number where the law settles.
  bool choose_size_by_chance(std::vector<LawTrack> laws, std::size_t few) {
    const double aim = kAim * options_.tolerance;
    std::size_t n = n_;
    for (;;) {
      const double chance = chance_of_means(laws, scale_, model().dimension());
      const double wanted = static_cast<double>(n) * std::pow(chance / aim, 2);
      size_ = std::max(few, rounded(std::min(wanted, static_cast<double>(kMost))));
      while (size_ > few && !affords(work(level_, 2, size_))) size_ = std::max(few, size_ / 2);
      out_.law = chance * std::sqrt(static_cast<double>(n) / static_cast<double>(size_));
      if (size_ <= kLeastShare * n) {
        draw_systems(1, size_);
        return *out_.law <= kChance * options_.tolerance;
      }
      n = size_ / kShare;
      if (!affords(work(level_, kSystems, n))) return out_.law.reset(), false;
      laws = draw_systems(kSystems, n);
    }
  }

  std::span<const double> theta_, times_;
  const DiffusionSimulationOptions& options_;
  TaskRunner& runner_;
  System system_;
  std::shared_ptr<const Dynamics> dynamics_;
  double cost_;  // of a particle's step
  bool squared_;
  int level_ = kFirstLevel;
  std::size_t n_, size_ = 0;
  std::vector<LawPairTrack> pairs_;
  std::vector<double> scale_;
  double work_ = 0;
  DiffusionSimulation out_;
};
}  // namespace

DiffusionSimulation choose_simulation(const Model& model, std::span<const double> theta, std::span<const double> times,
                                      const DiffusionSimulationOptions& options, TaskRunner& runner) {
  require_possible(model, {.law_particles = options.law_particles > 0 ? options.law_particles : options.series,
                           .series = options.series});
  return Chooser(model, theta, times, options, runner).run();
}
}  // namespace mckean
