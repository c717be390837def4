// The log-likelihood of the diffusion by particles: how finely it has to be computed is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "infer/likelihood_draws.hpp"
#include "infer/proposal_choice.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

constexpr int kFirstLevel = 1, kLastLevel = 10;
constexpr std::size_t kFew = 8, kMostDraws = 1024;
constexpr std::size_t kParticles = 256, kMostParticles = 1 << 16, kLawParticles = 1024, kMostLaw = 1 << 18;
constexpr double kShareOfParticles = 0.5, kShareOfChange = 0.7;  // of the tolerance: their standard errors
constexpr double kQuiet = 0.6;  // standard deviation of one estimate, above which more particles pay

double mean_of(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double deviation_of(std::span<const double> v) {
  double squares = 0;
  for (const double x : v) squares += std::pow(x - mean_of(v), 2);
  return std::sqrt(squares / static_cast<double>(v.size() - 1));
}

class Chooser {
 public:
  Chooser(const Engine& engine, std::span<const double> theta, const DiffusionOptions& options, TaskRunner& runner)
      : engine_(engine), theta_(theta), options_(options), runner_(runner) {
    effort_ = {.level = kFirstLevel,
               .scheme = Scheme::splitting,
               .particles = kParticles,
               .law_particles = engine.law_kind() == Engine::LawKind::pairs ? kParticles : kLawParticles};
  }

  // Steps that are too long for a few draws only are found late: then all begins again with the next finer ones.
  DiffusionLikelihood run() {
    const Effort first = effort_;
    for (int level = kFirstLevel;; ++level) {
      try {
        effort_ = first;
        effort_.level = level;
        return run_here();
      } catch (const NumericalError&) {
        level = effort_.level;
        known_.clear();
        if (level >= kLastLevel) throw;
      }
    }
  }

 private:
  DiffusionLikelihood run_here() {
    choose_level_that_exists();
    choose_proposal();
    choose_particles();
    const bool steps = choose_steps(), law = choose_law();
    std::size_t n = draws(effort_, kFew).size();
    while (error(effort_) > share() && n < kMostDraws && affords(effort_, n)) n = draws(effort_, 2 * n).size();
    DiffusionLikelihood out{averaged(known_.at(key(effort_))), effort_, n, steps_change_, law_change_, false};
    out.average.particle_steps = static_cast<std::uint64_t>(steps_);
    out.reached = steps && law && error(effort_) <= share();
    return out;
  }

  double share() const { return kShareOfParticles * options_.tolerance; }
  static std::string key(const Effort& e) {
    return fmt::format("level {} particles {} law {} ahead {} widening {}", e.level, e.particles, e.law_particles,
                       e.ahead, e.widening);
  }

  const std::vector<LikelihoodDraw>& draws(const Effort& e, std::size_t count) {
    std::vector<LikelihoodDraw>& have = known_[key(e)];
    if (have.size() >= count) return have;
    AverageOptions o{.seed = options_.seed, .group = "likelihood " + key(e)};
    o.request.effort = e;
    o.request.quiet_law = true;
    o.request.predictions = false;
    const auto more =
        draw_likelihoods(engine_, theta_, o, static_cast<std::uint32_t>(have.size()), count - have.size(), runner_);
    for (const LikelihoodDraw& d : more) steps_ += d.work, work_ += d.work * engine_.step_cost(e);
    have.insert(have.end(), more.begin(), more.end());
    return have;
  }
  std::vector<double> values(const Effort& e, std::size_t count) {
    std::vector<double> out;
    for (const LikelihoodDraw& d : draws(e, count)) out.push_back(d.loglik);
    return out;
  }
  LikelihoodSummary summary(const Effort& e) { return summarise(std::span<const double>(values(e, kFew))); }
  double error(const Effort& e) { return *summary(e).se; }
  bool affords(const Effort& e, std::size_t more) {
    const double one = draws(e, kFew)[0].work * engine_.step_cost(e);
    return work_ + one * static_cast<double>(more) <= options_.most_work;
  }

  void choose_level_that_exists() {
    for (;; ++effort_.level) {
      try {
        draws(effort_, kFew);
        return;
      } catch (const NumericalError&) {
        known_.erase(key(effort_));
        if (effort_.level == kLastLevel) throw;
      }
    }
  }

  void choose_proposal() {
    effort_ = with_best_proposal(engine_, effort_, [&](const Effort& e) -> std::optional<Spread> {
      try {
        const std::vector<double> v = values(e, kFew);
        return Spread{mean_of(v), std::pow(deviation_of(v), 2), v.size()};
      } catch (const NumericalError&) {
        return {};
      }
    });
  }

  void choose_particles() {
    while (deviation_of(values(effort_, kFew)) > kQuiet && effort_.particles < kMostParticles &&
           affords(effort_, 4 * kFew))
      effort_.particles *= 4;
  }

  // What a finer effort changes, known to a share of the tolerance or clearly more than all of it.
  std::optional<MeasuredChange> change(const Effort& finer) {
    for (std::size_t n = kFew;; n *= 2) {
      values(effort_, n), values(finer, n);
      const MeasuredChange found{summary(finer).value - summary(effort_).value,
                                 std::hypot(error(finer), error(effort_))};
      if (found.se < kShareOfChange * options_.tolerance || matters(found)) return found;
      if (n >= kMostDraws || !affords(finer, n)) return {};
    }
  }
  bool matters(const MeasuredChange& c) const { return std::abs(c.value) > options_.tolerance / 2 + 2 * c.se; }

  // Twice as many steps until that does not matter, and once more than needed: what is left is a third of the last
  // change, or less. False where it cannot be told. The same for the law.
  bool choose_steps() {
    for (;;) {
      Effort finer = effort_;
      ++finer.level;
      const auto found = steps_change_ = change(finer);
      if (!found) return false;
      effort_ = finer;
      if (!matters(*found)) return true;
      if (finer.level == kLastLevel) return false;
    }
  }

  bool choose_law() {
    if (engine_.law_kind() == Engine::LawKind::none) return law_change_.emplace(), true;
    for (;;) {
      Effort larger = effort_;
      larger.law_particles *= 4;
      const auto found = law_change_ = change(larger);
      if (!found) return false;
      effort_ = larger;
      if (!matters(*found)) return true;
      if (larger.law_particles > kMostLaw) return false;
    }
  }

  const Engine& engine_;
  std::span<const double> theta_;
  const DiffusionOptions& options_;
  TaskRunner& runner_;
  Effort effort_;
  std::map<std::string, std::vector<LikelihoodDraw>> known_;
  double steps_ = 0, work_ = 0;
  std::optional<MeasuredChange> steps_change_, law_change_;
};
}  // namespace

DiffusionLikelihood diffusion_likelihood(const Engine& engine, std::span<const double> theta,
                                         const DiffusionOptions& options, TaskRunner& runner) {
  return Chooser(engine, theta, options, runner).run();
}
}  // namespace mckean
