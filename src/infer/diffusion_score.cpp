// The score of the diffusion by particles: how finely it has to be computed is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mckean/error.hpp"
#include "mckean/likelihood.hpp"
#include "mckean/score.hpp"
#include "paper/information.hpp"

namespace mckean {
namespace {

constexpr double kRoughly = 1;  // log units, of the likelihood that chooses steps, particles and their proposal
constexpr double kShareOfLikelihood = 0.25;  // of the work
constexpr double kShare = 0.5;               // of the tolerance: the Monte Carlo error
constexpr double kShareOfSteps = 0.8;        // and the change by the last steps, of which a third to all is left
constexpr std::size_t kFewChains = 16, kMostChains = 512, kIterations = 50, kBurnIn = 10;
constexpr std::size_t kLeastParticles = 64, kMostParticles = 512, kMostTraced = 4096;
constexpr std::size_t kLaw = 8192, kLawOfPairs = 512;
constexpr int kLastLevel = 10;
constexpr double kLeastInformation = 0.02;  // of that of the path, should paths hide all of it

using Eigen::Index, Eigen::VectorXd;

// All chains of a level: mean, its error, and the square roots of the information, parameter by parameter.
struct LevelScore {
  VectorXd mean, error, unit;
};

LevelScore level_score(std::span<const HeldMoments> chains) {
  const HeldMoments all = average(chains);
  const auto n = static_cast<double>(chains.size());
  LevelScore out{all.score, VectorXd::Zero(all.score.size()), {}};
  for (const HeldMoments& chain : chains) out.error += (chain.score - all.score).cwiseAbs2() / (n * (n - 1));
  out.error = out.error.cwiseSqrt();
  // Louis: what the path tells, less what is not known of the path.
  const VectorXd complete = all.complete.diagonal(), spread = all.squares.diagonal() - all.score.cwiseAbs2();
  out.unit = (complete - spread).cwiseMax(kLeastInformation * complete).cwiseSqrt();
  return out;
}

// The largest, in units; parameters of which paths tell nothing have none.
template <class Value>
double largest(const LevelScore& s, Value&& value) {
  double out = 0;
  for (Index p = 0; p < s.mean.size(); ++p)
    if (s.unit[p] > 0) out = std::max(out, value(p) / s.unit[p]);
  return out;
}

double error_of(const LevelScore& s) {
  return largest(s, [&](Index p) { return s.error[p]; });
}

// Beyond what is chance.
double change_between(const LevelScore& a, const LevelScore& b) {
  return largest(b, [&](Index p) {
    const double square = std::pow(b.mean[p] - a.mean[p], 2) - std::pow(a.error[p], 2) - std::pow(b.error[p], 2);
    return std::sqrt(std::max(0.0, square));
  });
}

class Scoring {
 public:
  Scoring(const Problem& problem, std::span<const double> theta, const DiffusionScoreOptions& options,
          TaskRunner& runner)
      : theta_(theta),
        options_(options),
        runner_(runner),
        engine_(make_engine("particles", problem, {.seed = options.seed, .full_precision = options.full_precision})),
        problem_(problem, EngineOptions{}.level, options.seed) {}

  DiffusionScore run() {
    const DiffusionLikelihood likelihood = diffusion_likelihood(
        *engine_, theta_,
        {.tolerance = kRoughly, .seed = options_.seed, .most_work = kShareOfLikelihood * options_.most_work}, runner_);
    out_.effort = likelihood.effort;
    out_.estimate.particle_steps = likelihood.average.particle_steps;
    work_ = static_cast<double>(likelihood.average.particle_steps) * engine_->step_cost(out_.effort);
    describe_chains();
    const bool steps = choose_steps();
    const LevelScore& s = scores_.at(out_.effort.level);
    out_.draws = error_of(s);
    out_.reached = steps && out_.draws <= kShare * options_.tolerance;
    out_.estimate.value.assign(s.mean.begin(), s.mean.end());
    out_.estimate.se.assign(s.error.begin(), s.error.end());
    out_.units.assign(s.unit.begin(), s.unit.end());
    out_.estimate.particles = chain_.particles, out_.estimate.law_particles = chain_.law_particles;
    out_.chains = known_.at(out_.effort.level).size(), out_.iterations = kIterations, out_.burn_in = kBurnIn;
    return std::move(out_);
  }

 private:
  void describe_chains() {
    Effort& e = out_.effort;
    chain_ = chain_options(problem_.model(), {}, false, options_.full_precision);
    out_.smoother = chain_.smoother;
    std::size_t times = 0;
    for (const Series& s : problem_.data().series) times = std::max(times, s.times.size());
    e.particles = chain_.smoother == Smoother::genealogy
                      ? std::clamp(4 * times, e.particles, std::max(e.particles, kMostTraced))
                      : std::clamp(e.particles, kLeastParticles, kMostParticles);
    e.law_particles = engine_->law_kind() == Engine::LawKind::pairs ? kLawOfPairs : kLaw;
    chain_.particles = e.particles;
    chain_.law_particles = chain_.coarse_law_particles = e.law_particles;
    chain_.antithetic_laws = chain_.keep_laws = true;
    chain_.burn_in = kBurnIn;
    chain_.start.assign(theta_.begin(), theta_.end());
    if (e.ahead) chain_.ahead = {e.widening, 1};
  }

  void add_chains(std::vector<HeldMoments>& to, int level, std::size_t count) {
    std::vector<Task> tasks;
    for (std::uint32_t r = 0; r < count; ++r)
      tasks.push_back({fmt::format("score level {}", level), static_cast<std::uint32_t>(to.size()) + r});
    auto more = run_records(runner_, tasks, [&](std::size_t r, std::stop_token stop) {
      ChainOptions mine = chain_;
      mine.stop = std::move(stop);
      return held_moments(problem_, mine, {options_.seed, tasks[r].index, level, Scheme::splitting},
                          {.iterations = kIterations, .curvature = false});
    });
    for (HeldMoments& m : more) {
      out_.estimate.particle_steps += m.particle_steps;
      const double work = static_cast<double>(m.particle_steps) * engine_->step_cost(out_.effort);
      work_ += work, have_work_[level] += work;
      to.push_back(std::move(m));
    }
  }

  // As many more chains as there are, until their error is small enough or the work is used up.
  const LevelScore& score_at(int level) {
    std::vector<HeldMoments>& have = known_[level];
    do {
      add_chains(have, level, have.empty() ? kFewChains : have.size());
      scores_[level] = level_score(have);
    } while (error_of(scores_[level]) > kShare * options_.tolerance && have.size() < kMostChains &&
             work_ + have_work_[level] <= options_.most_work);
    return scores_[level];
  }

  // First against steps twice as long, then against ever shorter ones. False where it is not known, or still matters.
  bool choose_steps() {
    int& level = out_.effort.level;
    const LevelScore here = score_at(level);
    if (level > 0) out_.steps = change_from(level - 1, here);
    while (!out_.steps || *out_.steps > kShareOfSteps * options_.tolerance) {
      if (level == kLastLevel || work_ + 2 * have_work_[level] > options_.most_work) return false;
      const LevelScore before = scores_.at(level);
      out_.steps = change_between(before, score_at(++level));
    }
    return true;
  }

  // None where steps so long have no paths.
  std::optional<double> change_from(int coarse, const LevelScore& here) {
    try {
      return change_between(score_at(coarse), here);
    } catch (const NumericalError&) {
      return {};
    }
  }

  std::span<const double> theta_;
  const DiffusionScoreOptions& options_;
  TaskRunner& runner_;
  std::unique_ptr<const Engine> engine_;
  ParticleProblem problem_;
  ChainOptions chain_;
  std::map<int, std::vector<HeldMoments>> known_;  // by level
  std::map<int, LevelScore> scores_;
  std::map<int, double> have_work_;
  double work_ = 0;
  DiffusionScore out_;
};
}  // namespace

bool has_diffusion_score(const Problem& problem) {
  const System& system = problem.compiled().system;
  return system.dynamics(Scheme::splitting, system.ranks().back(), true)->centred_score;
}

DiffusionScore diffusion_score(const Problem& problem, std::span<const double> theta,
                               const DiffusionScoreOptions& options, TaskRunner& runner) {
  return Scoring(problem, theta, options, runner).run();
}
}  // namespace mckean
