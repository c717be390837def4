// The smoothed state of the diffusion by particles: how finely it has to be computed is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mckean/error.hpp"
#include "mckean/likelihood.hpp"
#include "paper/smoothing.hpp"

namespace mckean {
namespace {

constexpr double kRoughly = 1;  // log units, of the likelihood that chooses steps, particles and their proposal
constexpr double kShareOfLikelihood = 0.25;  // of the work
constexpr double kShare = 0.5;               // of the tolerance: the Monte Carlo error
constexpr double kShareOfSteps = 0.8;        // and the change by the last steps, of which a third to all is left
constexpr std::size_t kFewChains = 8, kMostChains = 128, kIterations = 50, kBurnIn = 10;
constexpr std::size_t kLeastParticles = 128, kMostParticles = 512, kMostTraced = 4096, kMostLaw = 1024;
constexpr int kLastLevel = 10;
constexpr double kNothing = 1e-9;  // share of a state's size below which its spread is rounding

// Mean, spread and error of the mean at one place.
struct Place {
  double mean = 0, sd = 0, error = 0;
};

Place place(const SmoothedChains& chains, std::size_t s, std::size_t c, std::size_t row) {
  const auto n = static_cast<double>(chains.draws.size());
  Place out;
  std::vector<double> means;
  double squares = 0, count = 0;
  for (const SmoothedDraws& chain : chains.draws) {
    const std::vector<double>& v = chain[s][c][row];
    means.push_back(std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()));
    out.mean += means.back() / n;
    count += static_cast<double>(v.size());
  }
  double between = 0;
  for (std::size_t k = 0; k < means.size(); ++k) {
    between += std::pow(means[k] - out.mean, 2) / (n - 1);
    for (const double v : chains.draws[k][s][c][row]) squares += std::pow(v - out.mean, 2);
  }
  out.sd = std::sqrt(squares / (count - 1));
  out.error = std::sqrt(between / n);
  return out;
}

// By component, series after series.
std::vector<std::vector<Place>> places(const SmoothedChains& chains) {
  const SmoothedDraws& shape = chains.draws[0];
  std::vector<std::vector<Place>> out(shape[0].size());
  for (std::size_t s = 0; s < shape.size(); ++s)
    for (std::size_t c = 0; c < out.size(); ++c)
      for (std::size_t row = 0; row < shape[s][c].size(); ++row) out[c].push_back(place(chains, s, c, row));
  return out;
}

// The largest root mean square of a component, where it has a spread at all.
template <class Square>
double largest(std::span<const std::vector<Place>> of, Square&& square) {
  double out = 0;
  for (std::size_t c = 0; c < of.size(); ++c) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < of[c].size(); ++i) {
      const Place& p = of[c][i];
      if (p.sd <= kNothing * std::abs(p.mean)) continue;
      sum += square(c, i) / (p.sd * p.sd), ++count;
    }
    if (count > 0) out = std::max(out, std::sqrt(std::max(0.0, sum / count)));
  }
  return out;
}

double error_of(const SmoothedChains& chains) {
  const auto all = places(chains);
  return largest(all, [&](std::size_t c, std::size_t i) { return std::pow(all[c][i].error, 2); });
}

// Beyond what is chance.
double change_between(const SmoothedChains& a, const SmoothedChains& b) {
  const auto from = places(a), to = places(b);
  return largest(to, [&](std::size_t c, std::size_t i) {
    return std::pow(to[c][i].mean - from[c][i].mean, 2) - std::pow(to[c][i].error, 2) - std::pow(from[c][i].error, 2);
  });
}

class Smoothing {
 public:
  Smoothing(const Problem& problem, std::span<const double> theta, const DiffusionSmoothingOptions& options,
            TaskRunner& runner)
      : theta_(theta),
        options_(options),
        runner_(runner),
        engine_(make_engine("particles", problem, {.seed = options.seed, .full_precision = options.full_precision})),
        problem_(problem, EngineOptions{}.level, options.seed) {}

  DiffusionSmoothing run() {
    const DiffusionLikelihood likelihood = diffusion_likelihood(
        *engine_, theta_,
        {.tolerance = kRoughly, .seed = options_.seed, .most_work = kShareOfLikelihood * options_.most_work}, runner_);
    out_.effort = likelihood.effort;
    out_.states.particle_steps = likelihood.average.particle_steps;
    work_ = static_cast<double>(likelihood.average.particle_steps) * engine_->step_cost(out_.effort);
    describe_chains();
    const bool steps = choose_steps();
    const SmoothedChains& chains = known_.at(out_.effort.level);
    out_.draws = error_of(chains);
    out_.reached = steps && out_.draws <= kShare * options_.tolerance;
    out_.states.at = summarise_chains(chains);
    out_.states.particles = chain_.particles, out_.states.law_particles = chain_.law_particles;
    out_.chains = chains.draws.size(), out_.iterations = kIterations, out_.burn_in = kBurnIn;
    return std::move(out_);
  }

 private:
  void describe_chains() {
    Effort& e = out_.effort;
    chain_ = chain_options(problem_.model(), {}, false, options_.full_precision);
    out_.smoother = chain_.smoother;
    std::size_t times = 0;
    for (const Series& s : problem_.data().series) times = std::max(times, s.times.size());
    const bool traced = chain_.smoother == Smoother::genealogy;
    e.particles = traced ? std::clamp(4 * times, e.particles, std::max(e.particles, kMostTraced))
                         : std::clamp(e.particles, kLeastParticles, kMostParticles);
    e.law_particles = std::min(e.law_particles, kMostLaw);
    chain_.particles = e.particles;
    chain_.law_particles = chain_.coarse_law_particles = e.law_particles;
    chain_.antithetic_laws = true;
    chain_.burn_in = kBurnIn;
    chain_.start.assign(theta_.begin(), theta_.end());
    if (e.ahead) chain_.ahead = {e.widening, 1};
  }

  // As many more chains as there are, until their error is small enough or the work is used up.
  const SmoothedChains& chains_at(int level) {
    SmoothedChains& have = known_[level];
    while (have.draws.empty() || (error_of(have) > kShare * options_.tolerance && have.draws.size() < kMostChains &&
                                  work_ + have_work_[level] <= options_.most_work)) {
      const std::size_t n = have.draws.size();
      SmoothedChains more =
          draw_smoothed(problem_, chain_, options_.seed, {level, Scheme::splitting},
                        {static_cast<std::uint32_t>(n), n == 0 ? kFewChains : n, kIterations}, runner_);
      std::ranges::move(more.draws, std::back_inserter(have.draws));
      out_.states.particle_steps += more.particle_steps;
      const double work = static_cast<double>(more.particle_steps) * engine_->step_cost(out_.effort);
      work_ += work, have_work_[level] += work;
    }
    return have;
  }

  // First against steps twice as long, then against ever shorter ones. False where it is not known, or still matters.
  bool choose_steps() {
    int& level = out_.effort.level;
    const SmoothedChains& here = chains_at(level);
    if (level > 0) out_.steps = change_from(level - 1, here);
    while (!out_.steps || *out_.steps > kShareOfSteps * options_.tolerance) {
      if (level == kLastLevel || work_ + 2 * have_work_[level] > options_.most_work) return false;
      const SmoothedChains& before = known_.at(level);
      out_.steps = change_between(before, chains_at(++level));
    }
    return true;
  }

  // None where steps so long have no paths.
  std::optional<double> change_from(int coarse, const SmoothedChains& here) {
    try {
      return change_between(chains_at(coarse), here);
    } catch (const NumericalError&) {
      return {};
    }
  }

  std::span<const double> theta_;
  const DiffusionSmoothingOptions& options_;
  TaskRunner& runner_;
  std::unique_ptr<const Engine> engine_;
  ParticleProblem problem_;
  ChainOptions chain_;
  std::map<int, SmoothedChains> known_;  // by level
  std::map<int, double> have_work_;
  double work_ = 0;
  DiffusionSmoothing out_;
};
}  // namespace

DiffusionSmoothing smooth_diffusion(const Problem& problem, std::span<const double> theta,
                                    const DiffusionSmoothingOptions& options, TaskRunner& runner) {
  return Smoothing(problem, theta, options, runner).run();
}
}  // namespace mckean
