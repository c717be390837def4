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
  out.particles = Rule(o.particles, "--particles").at(o.level, o.level, times, 2);
  out.law_particles = Rule(o.law_particles, "--law-particles").at(o.level, o.level, times);
  out.coarse_law_particles = out.law_particles;
  out.burn_in = o.burn_in;
  return out;
}

double StepRule::at(std::size_t n) const { return gamma * std::pow(n0 + static_cast<double>(n), -rho); }

namespace {

constexpr std::size_t kMostReprojections = 20;

// Half-widths of the first compact set: wide enough that a chain that converges hardly ever meets it.
double reach(double start) { return 10 * (1 + std::abs(start)); }

LawNoise law_noise(const ChainIdentity& id, std::uint32_t n, const ChainOptions& o, Purpose start, Purpose path) {
  LawNoise noise{{id.seed, id.replicate, n, start}, {id.seed, id.replicate, n, path}};
  noise.start.antithetic = noise.path.antithetic = o.antithetic_laws;
  return noise;
}

LawNoise kernel_law(const ChainIdentity& id, std::uint32_t n, const ChainOptions& o) {
  return law_noise(id, n, o, Purpose::law_start, Purpose::law);
}

LawNoise score_law(const ChainIdentity& id, std::uint32_t n, const ChainOptions& o) {
  return law_noise(id, n, o, Purpose::score_law_start, Purpose::score_law);
}

LawOptions law_options(const ParticleProblem& problem, const ChainOptions& o, Derivative derivative, double margin) {
  return {.particles = o.law_particles,
          .derivative = derivative,
          .precision = o.precision,
          .margin = margin,
          .first_rank = problem.first_rank()};
}

// Euler updates of a law's particles; finite differences run it again for each parameter.
std::uint64_t law_cost(const LawPath& law, std::size_t steps, Derivative derivative) {
  if (!law.dynamics->reads_law()) return 0;
  const std::size_t runs = derivative == Derivative::finite_difference ? 1 + law.dynamics->dynamic.size() : 1;
  return runs * law.particles * steps;
}

std::uint64_t filter_cost(const Schedule& schedule, std::size_t particles) {
  std::uint64_t steps = 0;
  for (const auto& stops : schedule.stops) steps += stops.back().point;
  return steps * particles;
}

std::string chain_name(std::uint32_t replicate) {
  return replicate < kMostReplicates ? fmt::format("replicate {}", replicate) : "a chain for the information";
}

// Failures say which replicate, level, iteration and parameters they belong to.
template <class Work>
void with_context(const Model& model, const ChainOptions& o, const ChainIdentity& id, std::uint32_t n,
                  std::span<const double> theta, Work&& work) {
  if (o.stop.stop_requested()) throw Stopped{};
  try {
    work();
  } catch (const NumericalError& e) {
    throw NumericalError(fmt::format("{}, level {}, iteration {}, at {}: {}", chain_name(id.replicate), id.level, n,
                                     to_text(model.parameters(), theta), e.what()));
  }
}
}  // namespace

Iterate::Iterate(const Model& model, const ChainOptions& options)
    : model_(model), options_(options), start_(unconstrained(model.parameters(), options.start)), u_(start_) {}

std::vector<double> Iterate::theta() const { return natural(model_.parameters(), u_); }

bool Iterate::move(std::size_t n, std::span<const double> score) {
  Eigen::VectorXd h =
      Eigen::Map<const Eigen::VectorXd>(score.data(), u_.size()).cwiseProduct(slopes(model_.parameters(), u_));
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

void Iterate::place(std::span<const double> theta) { u_ = unconstrained(model_.parameters(), theta); }

void Iterate::return_to_start(const std::string& reason) {
  if (++reprojections_ > kMostReprojections)
    throw NumericalError(
        fmt::format("the chain has left {} growing compact sets, {}; take shorter steps, or start elsewhere",
                    kMostReprojections, reason));
  u_ = start_;
}

Chain::Chain(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id)
    : problem_(problem),
      options_(options),
      id_(id),
      schedule_(problem.schedule(id.level)),
      iterate_(problem.model(), options_),
      filter_(problem.system(), problem.observation(), schedule_,
              {.particles = options.particles, .smoother = options.smoother, .precision = options.precision}),
      score_(problem.system(), problem.observation_score(), schedule_),
      last_(score_.zero()) {
  begin();
}

// A fresh law, and new paths of all series given it: all or none, should a particle leave a window. `particles` is what
// each series costs a step.
template <class Draw>
void Chain::replace_paths(std::span<const double> now, std::size_t particles, Draw&& draw) {
  with_wide_enough_law(
      [&](double margin) {
        return draw_law(problem_.system(), schedule_.grid, now, kernel_law(id_, n_, options_),
                        law_options(problem_, options_, Derivative::none, margin));
      },
      [&](const LawPath& law) {
        filter_.set_law(law, now);
        std::vector<Path> drawn;
        for (std::size_t s = 0; s < problem_.data().series.size(); ++s) {
          std::optional<Path> path = draw(s, KernelNoise(id_.seed, id_.replicate, n_));
          if (!path) return LawStatus::window_left;
          drawn.push_back(*std::move(path));
        }
        paths_ = std::move(drawn);
        particle_steps_ += law_cost(law, schedule_.grid.steps(), Derivative::none) + filter_cost(schedule_, particles);
        return LawStatus::good;
      });
}

// The first paths come from the model itself.
void Chain::begin() {
  with_context(problem_.model(), options_, id_, n_, theta(), [&] {
    replace_paths(theta(), 1, [&](std::size_t s, const KernelNoise& noise) { return filter_.first_path(s, noise); });
  });
  for (std::size_t i = 0; i < options_.burn_in; ++i) move_paths();
}

void Chain::draw_paths(std::span<const double> now) {
  replace_paths(now, options_.particles,
                [&](std::size_t s, const KernelNoise& noise) { return filter_.step(s, paths_[s], noise); });
}

PathScore Chain::score_given(std::span<const double> theta, std::uint32_t law_number) {
  score_.set_parameters(theta);
  PathScore h;
  with_wide_enough_law(
      [&](double margin) {
        return draw_law(problem_.system(), schedule_.grid, theta, score_law(id_, law_number, options_),
                        law_options(problem_, options_, options_.derivative, margin));
      },
      [&](const LawPath& law) {
        h = score_.zero();
        for (std::size_t s = 0; s < paths_.size(); ++s)
          if (score_.add(s, paths_[s], law, h) != LawStatus::good) return LawStatus::window_left;
        particle_steps_ += law_cost(law, schedule_.grid.steps(), options_.derivative);
        return LawStatus::good;
      });
  return h;
}

void Chain::move_paths() {
  ++n_;
  const auto now = theta();
  with_context(problem_.model(), options_, id_, n_, now, [&] { draw_paths(now); });
}

const PathScore& Chain::advance(bool hold) {
  ++n_;
  ++moves_;
  const auto now = theta();
  bool stays = true;
  with_context(problem_.model(), options_, id_, n_, now, [&] {
    try {
      draw_paths(now);
      last_ = score_at(now);
      stays = hold || iterate_.move(moves_, last_.gradient);
    } catch (const Explosion& e) {
      if (hold) throw;
      iterate_.return_to_start(e.what());
      stays = false;
    }
  });
  if (!stays) begin();
  return last_;
}

CoupledChain::CoupledChain(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id)
    : problem_(problem),
      options_(options),
      id_(id),
      fine_schedule_(problem.schedule(id.level)),
      coarse_schedule_(problem.schedule(id.level - 1)),
      fine_(problem.model(), options_),
      coarse_(problem.model(), options_),
      filter_(problem.system(), problem.observation(), fine_schedule_, coarse_schedule_,
              {.particles = options.particles, .smoother = options.smoother, .precision = options.precision}),
      fine_score_(problem.system(), problem.observation_score(), fine_schedule_),
      coarse_score_(problem.system(), problem.observation_score(), coarse_schedule_) {
  begin();
}

template <class Use>
void CoupledChain::with_laws(const LawNoise& noise, Derivative derivative, Use&& use) {
  const auto now = fine(), coarse_now = coarse();
  with_wide_enough_law(
      [&](double margin) {
        return draw_coupled_laws(problem_.system(), {fine_schedule_.grid, now}, {coarse_schedule_.grid, coarse_now},
                                 noise, law_options(problem_, options_, derivative, margin),
                                 options_.coarse_law_particles);
      },
      [&](const Laws& laws) {
        if (use(laws, now, coarse_now) != LawStatus::good) return LawStatus::window_left;
        particle_steps_ += law_cost(laws.first, fine_schedule_.grid.steps(), derivative) +
                           law_cost(laws.second, coarse_schedule_.grid.steps(), derivative);
        return LawStatus::good;
      });
}

void CoupledChain::begin() {
  with_context(problem_.model(), options_, id_, n_, fine(), [&] {
    with_laws(kernel_law(id_, n_, options_), Derivative::none, [&](const Laws& laws, auto& now, auto& coarse_now) {
      filter_.set_laws(laws.first, laws.second, now, coarse_now);
      paths_.clear();
      for (std::size_t s = 0; s < problem_.data().series.size(); ++s) {
        auto pair = filter_.first_paths(s, {id_.seed, id_.replicate, n_});
        if (!pair) return LawStatus::window_left;
        paths_.push_back(*std::move(pair));
      }
      particle_steps_ += filter_cost(fine_schedule_, 1) + filter_cost(coarse_schedule_, 1);
      return LawStatus::good;
    });
  });
  for (std::size_t i = 0; i < options_.burn_in; ++i) move_paths();
}

void CoupledChain::draw_paths() {
  with_laws(kernel_law(id_, n_, options_), Derivative::none, [&](const Laws& laws, auto& now, auto& coarse_now) {
    filter_.set_laws(laws.first, laws.second, now, coarse_now);
    std::vector<CoupledFilter::Pair> drawn;
    for (std::size_t s = 0; s < paths_.size(); ++s) {
      auto pair = filter_.step(s, paths_[s], {id_.seed, id_.replicate, n_});
      if (!pair) return LawStatus::window_left;
      drawn.push_back(*std::move(pair));
    }
    paths_ = std::move(drawn);
    particle_steps_ +=
        filter_cost(fine_schedule_, options_.particles) + filter_cost(coarse_schedule_, options_.particles);
    return LawStatus::good;
  });
}

bool CoupledChain::move() {
  PathScore h = fine_score_.zero(), coarse_h = h;
  with_laws(score_law(id_, n_, options_), options_.derivative, [&](const Laws& laws, auto& now, auto& coarse_now) {
    fine_score_.set_parameters(now);
    coarse_score_.set_parameters(coarse_now);
    h = fine_score_.zero(), coarse_h = h;
    for (std::size_t s = 0; s < paths_.size(); ++s) {
      if (fine_score_.add(s, paths_[s].fine, laws.first, h) != LawStatus::good ||
          coarse_score_.add(s, paths_[s].coarse, laws.second, coarse_h) != LawStatus::good)
        return LawStatus::window_left;
    }
    return LawStatus::good;
  });
  const bool stays = fine_.move(moves_, h.gradient), coarse_stays = coarse_.move(moves_, coarse_h.gradient);
  return stays && coarse_stays;
}

void CoupledChain::move_paths() {
  ++n_;
  with_context(problem_.model(), options_, id_, n_, fine(), [&] { draw_paths(); });
}

void CoupledChain::advance() {
  ++n_;
  ++moves_;
  bool stays = true;
  with_context(problem_.model(), options_, id_, n_, fine(), [&] {
    try {
      draw_paths();
      stays = move();
    } catch (const Explosion& e) {
      fine_.return_to_start(e.what());
      coarse_.return_to_start(e.what());
      stays = false;
    }
  });
  if (!stays) begin();
}
}  // namespace mckean
