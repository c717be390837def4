#include "paper/pilot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int kFirstLevel = 3, kMostLevel = 10;
constexpr std::size_t kFirstParticles = 16, kMostParticles = 1024;
constexpr std::size_t kFirstLaw = 256, kLeastLaw = 64, kMostLaw = 16384;
constexpr double kRenewal = 0.4;     // of any point of a path, by one iteration
constexpr double kNegligible = 0.1;  // of a standard error
constexpr double kForgotten = 5;     // T_0 / n0: what a chain has moved is 5/6 of the way from start to maximum
constexpr double kUnconverged = 20;  // n0 where the maximum was not found, and long chains would be in vain
constexpr std::size_t kLooks = 8, kLookIterations = 24;
constexpr std::size_t kFirstBurnIn = 10, kMostBurnIn = 60;
constexpr double kChainsForTolerance = 64;
constexpr double kLeastReplicates = 24, kCheapLawWork = 1e9;  // particle-steps
constexpr std::size_t kCheapLaw = 4096;

// Iterations after which a point of the path that is renewed least is the first one still with probability 0.002.
std::size_t burn_in_for(double renewal) {
  const double needed = std::log(0.002) / std::log(std::clamp(1 - renewal, 0.01, 0.99));
  return std::min(static_cast<std::size_t>(std::ceil(needed)), kMostBurnIn);
}

std::size_t steps_of(const ParticleProblem& problem, int level) { return problem.schedule(level).grid.points.size(); }

class Explorer {
 public:
  Explorer(Workbench& bench, const std::string& group, const PilotOptions& options)
      : bench_(bench), group_(group), options_(options), free_(options.free) {
    if (free_.empty()) free_.assign(bench.model().parameters().size(), true);
  }

  Pilot run() {
    ChainOptions chain = options_.chain;
    const int first = options_.levels ? options_.levels->first : kFirstLevel;
    level_ = first;
    top_ = options_.levels ? options_.levels->second : kMostLevel;
    set_particles(chain);
    const Ascent ascent = climb(bench_, group_ + "ascent", chain, first, options_.levels ? first : kMostLevel, free_);
    level_ = ascent.level;
    out_.fixed = ascent.fixed;
    out_.arrived = ascent.arrived;
    for (std::size_t p = 0; p < free_.size(); ++p) free_[p] = free_[p] && !ascent.fixed[p];
    chain.burn_in = kFirstBurnIn;
    Place place{ascent.u, level_, chain};
    const Probe first_look = choose_particles(place);
    require_dependence(first_look);
    path_noise_ = first_look.path_noise;
    out_.maximum = find_maximum(bench_, group_ + "maximum", place, first_look, free_);
    place.u = out_.maximum.u;
    if (out_.maximum.converged) choose_levels(place);
    plan(place);
    return std::move(out_);
  }

 private:
  void say(const std::string& text) { bench_.observer.message(text); }

  void set_particles(ChainOptions& chain) const {
    const std::size_t T = steps_of(bench_.problem, level_);
    chain.particles = options_.particles ? options_.particles->at(level_, top_, T, 2) : particles_;
    chain.law_particles = chain.coarse_law_particles =
        options_.law_particles ? options_.law_particles->at(level_, top_, T) : law_;
  }

  Probe look(const std::string& name, const Place& place, std::size_t iterations, bool curvature = false) {
    Probe p = probe(
        bench_, group_ + name, std::span(&place, 1),
        {.chains = kLooks, .iterations = affordable(bench_.problem, place, iterations), .curvature = curvature})[0];
    if (!p.found) throw NumericalError(p.problem);
    return p;
  }

  // M: until every point of a path is renewed often enough. N: where law and filter share the work so that the score
  // has the least variance for its cost, (M + 2N)(V + V_law/N).
  Probe choose_particles(Place& place) {
    Probe p = look(fmt::format("look {}", particles_), place, kLookIterations, true);
    while (!options_.particles && p.renewal < kRenewal && particles_ < kMostParticles) {
      particles_ *= 2;
      set_particles(place.chain);
      p = look(fmt::format("look {}", particles_), place, kLookIterations, true);
    }
    place.chain.burn_in = burn_in_for(p.renewal);
    if (p.renewal < 0.02)
      out_.findings.push_back(
          {Finding::Code::smoother_stuck, {{"particles", place.chain.particles}, {"percent", 100 * p.renewal}}});
    if (!options_.law_particles && bench_.problem.system().dynamics(Scheme::euler, 0, false)->reads_law()) {
      double share = 0;
      const MatrixXd total = p.noise();
      for (Index i = 0; i < total.rows(); ++i)
        if (total(i, i) > 0) share = std::max(share, std::min(0.95, p.law_noise(i, i) / total(i, i)));
      const double filter = static_cast<double>(place.chain.particles * bench_.problem.data().series.size());
      const double best = std::sqrt(share / (1 - share) * static_cast<double>(law_) * filter / 2);
      law_ = static_cast<std::size_t>(std::clamp(std::ceil(best / 64) * 64, double{kLeastLaw}, double{kMostLaw}));
      set_particles(place.chain);
    }
    say(
        fmt::format("{} particles (every point of a path is renewed in at least {:.0f} % of the iterations), {} law "
                    "particles",
                    place.chain.particles, 100 * p.renewal, place.chain.law_particles));
    return p;
  }

  void require_dependence(const Probe& p) const {
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i] && !(p.complete(static_cast<Index>(i), static_cast<Index>(i)) > 0))
        throw NumericalError(
            fmt::format("neither dynamics nor observations depend on '{}' where the fit went from its start; it cannot "
                        "be estimated: make it a constant, or start elsewhere",
                        bench_.model().parameters()[i].name));
  }

  // L: until what is left beyond it is not seen to exceed what is negligible; N likewise.
  void choose_levels(Place& place) {
    const ScoreMaximum& m = out_.maximum;
    if (m.whitening.cols() == 0) return;
    const double v = noise();
    const auto iterations = static_cast<std::size_t>(std::clamp(70 * v, 64.0, 4000.0));
    const auto own_iterations = static_cast<std::size_t>(std::clamp(25 * v / kLooks, 24.0, 400.0));
    std::optional<Probe> here;
    MatrixXd u_error = m.u_error;
    for (int round = 0;; ++round) {
      const Biases b = biases(bench_, fmt::format("{}bias {} ", group_, round), place, m, here, u_error, iterations);
      const double time = at_least(b.discretisation), law = at_least(b.law);
      say(fmt::format(
          "level {}: beyond it the estimate moves by {} standard errors; with more than {} law particles, by {}",
          place.level, describe(b.discretisation), place.chain.law_particles, describe(b.law)));
      const bool finer = !options_.levels && time > kNegligible && place.level < kMostLevel;
      const bool larger = !options_.law_particles && law > kNegligible && law_ < kMostLaw;
      if (finer) {
        const int more = std::clamp(static_cast<int>(std::ceil(std::log2(time / kNegligible))), 1, 3);
        const int next = std::min(kMostLevel, place.level + more);
        place.u += b.discretisation.shift * (1 - std::ldexp(1.0, place.level - next));
        place.level = level_ = next;
      }
      if (larger) {
        law_ = std::min(kMostLaw,
                        law_ * static_cast<std::size_t>(std::clamp(std::ceil(2 * law / kNegligible), 2.0, 12.0)));
        set_particles(place.chain);
      }
      if ((!finer && !larger) || round == 4) break;
      const std::string name = fmt::format("level {} {} ", round, place.level);
      here = look(name, place, own_iterations);
      while (!options_.particles && here->renewal < kRenewal && particles_ < kMostParticles) {
        particles_ *= 2;
        set_particles(place.chain);
        here = look(fmt::format("{}{} ", name, particles_), place, own_iterations);
      }
      place.chain.burn_in = burn_in_for(here->renewal);
      place.u += inverse() * here->score;
      u_error = inverse() * here->score_error * inverse();
      here.reset();
    }
    out_.maximum.u = place.u;
    out_.maximum.u_error = u_error;
  }

  MatrixXd inverse() const { return out_.maximum.whitening * out_.maximum.whitening.transpose(); }
  // Variance of one Newton step, in units of the squared standard error along the noisiest direction. It is seen in the
  // spread of chains, of which there are few; that of the paths alone, which is known well, is a lower bound, since
  // iterations are correlated.
  double noise() const {
    const MatrixXd& w = out_.maximum.whitening;
    if (w.cols() == 0) return 1;
    const auto largest = [&](const MatrixXd& m) { return spectrum(w.transpose() * m * w).values.maxCoeff(); };
    return std::max(largest(out_.maximum.noise), largest(path_noise_));
  }
  VectorXd standard_errors() const { return inverse().diagonal().cwiseSqrt(); }
  // A bias in standard errors, the largest of all parameters: its size less its Monte Carlo error.
  double at_least(const Bias& b) const {
    if (!b.known) return 0;
    double most = 0;
    const VectorXd se = standard_errors();
    for (Index p = 0; p < se.size(); ++p)
      if (se[p] > 0) most = std::max(most, (std::abs(b.shift[p]) - b.error[p]) / se[p]);
    return most;
  }
  std::string describe(const Bias& b) const {
    if (!b.known) return "an unknown number of";
    double shift = 0, error = 0;
    const VectorXd se = standard_errors();
    for (Index p = 0; p < se.size(); ++p)
      if (se[p] > 0 && std::abs(b.shift[p]) / se[p] >= shift)
        shift = std::abs(b.shift[p]) / se[p], error = b.error[p] / se[p];
    return fmt::format("{:.2f} ± {:.2f}", shift, error);
  }

  // The Monte Carlo error that is asked for, in standard errors.
  double wanted(const Place& place) const {
    if (!options_.tolerance || !out_.maximum.converged) return kNegligible;
    const VectorXd se = standard_errors(), slope = slopes(bench_.model().parameters(), place.u).cwiseAbs();
    double share = kNegligible;
    for (Index p = 0; p < se.size(); ++p)
      if (se[p] > 0) share = std::min(share, *options_.tolerance / (slope[p] * se[p]));
    return std::max(share, 1e-3);
  }

  void plan(const Place& place) {
    StratifiedPlan& plan = out_.plan;
    plan.lowest = options_.levels ? options_.levels->first : level_;
    plan.highest = options_.levels ? options_.levels->second : level_;
    plan.centre = place.u;
    const double n0 = std::clamp(noise(), 2.0, out_.maximum.converged ? 1e4 : kUnconverged);
    const auto shortest = static_cast<std::size_t>(std::ceil(kForgotten * n0));
    // What all chains have in common, the start and the information, makes them err together, by less the longer they
    // are: where a small tolerance takes many iterations, these are divided among few chains.
    const double share = wanted(place);
    const auto for_tolerance = static_cast<std::size_t>(n0 / (share * share * kChainsForTolerance));
    const std::size_t T0 = options_.iterations.value_or(std::max(shortest, for_tolerance));
    plan.lengths.clear();
    for (int p = 0; p <= options_.most_p; ++p) plan.lengths.push_back(T0 << p);
    plan.noise = inverse() * out_.maximum.noise * inverse();
    // A larger law where it costs little: chains of this length, as many as there are at least, should not feel it, or
    // not beside their filters.
    double steps = 0;
    for (int l = plan.lowest; l <= plan.highest; ++l)
      steps += (l > plan.lowest ? 1.5 : 1) * static_cast<double>(bench_.problem.schedule(l).grid.steps());
    const double work = 3 * kLeastReplicates * static_cast<double>(shortest) * steps;
    const double filter = static_cast<double>(place.chain.particles * bench_.problem.data().series.size());
    const double cheap = std::min(std::max(kCheapLawWork / work, filter / 6), double{kCheapLaw});
    law_ = std::max(law_, static_cast<std::size_t>(cheap / 64) * 64);
    // The law's bias was made negligible beside the standard error; it must be so beside the tolerance.
    law_ = std::min(kMostLaw, static_cast<std::size_t>(static_cast<double>(law_) * kNegligible / share));
    // More particles in the filter where they cost little beside the law: paths of two levels meet more often.
    particles_ = std::max(particles_, law_ / (8 * bench_.problem.data().series.size()));
    for (level_ = plan.lowest; level_ <= plan.highest; ++level_) {
      ChainOptions chain = place.chain;
      set_particles(chain);
      chain.step = options_.step.value_or(StepRule{.gamma = 1, .n0 = n0, .rho = 1});
      chain.precondition = inverse();
      if (level_ > plan.lowest) {
        ChainOptions below = chain;
        --level_, set_particles(below), ++level_;
        chain.coarse_law_particles = std::min(chain.law_particles, below.law_particles);
      }
      plan.chains.push_back(std::move(chain));
    }
    say(fmt::format("levels {} to {}, chains of {} iterations with steps 1/({:.3g} + n) times the inverse information",
                    plan.lowest, plan.highest, T0, n0));
  }

  Workbench& bench_;
  const std::string group_;
  const PilotOptions& options_;
  std::vector<bool> free_;
  int level_ = 0, top_ = 0;
  std::size_t particles_ = kFirstParticles, law_ = kFirstLaw;
  MatrixXd path_noise_;  // of one iteration's score
  Pilot out_;
};
}  // namespace

Pilot explore(Workbench& bench, const std::string& group, const PilotOptions& options) {
  return Explorer(bench, group, options).run();
}

Biases biases(Workbench& bench, const std::string& group, const Place& place, const ScoreMaximum& maximum,
              const std::optional<Probe>& here, const MatrixXd& u_error, std::size_t iterations) {
  const MatrixXd inverse = maximum.whitening * maximum.whitening.transpose();
  Probe own;
  own.found = true;
  own.score = here ? here->score : VectorXd::Zero(place.u.size());
  own.score_error = here ? here->score_error : (maximum.information * u_error * maximum.information).eval();
  const auto compare = [&](const Probe& fine, const Probe& coarse, double factor) -> Bias {
    if (!fine.found || !coarse.found) return {};
    const VectorXd shift = inverse * (fine.score - coarse.score) / factor;
    const MatrixXd error = inverse * (fine.score_error + coarse.score_error) * inverse / (factor * factor);
    return {true, shift, error.diagonal().cwiseSqrt()};
  };
  std::vector<Place> places;
  const int below = std::min(2, place.level);
  if (below > 0) {
    places.push_back(place);
    places.back().level -= below;
  }
  const bool has_law =
      bench.problem.system().dynamics(Scheme::euler, 0, false)->reads_law() && place.chain.law_particles >= 8;
  if (has_law) {  // at the lower level, where it costs less
    places.push_back(place);
    places.back().level -= below;
    places.back().chain.law_particles /= 4;
  }
  const std::size_t each = std::max<std::size_t>(iterations / 8, 8);
  const auto probes = probe(bench, group, places, {.chains = 8, .iterations = each});
  Biases out;
  if (below > 0) out.discretisation = compare(own, probes[0], std::ldexp(1.0, below) - 1);
  if (has_law) out.law = compare(below > 0 ? probes[0] : own, probes.back(), 3);
  return out;
}
}  // namespace mckean
