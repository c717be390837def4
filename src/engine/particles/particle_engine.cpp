#include "engine/particles/particle_engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/particles/degeneracy.hpp"
#include "mckean/tasks.hpp"

namespace mckean {
namespace {

constexpr double kNormal = 5, kTypical = 20;  // what a normal variate costs, and a step of a model of two equations

// Weighs and resamples the particles of one series at an observation.
class Weigher {
 public:
  Weigher(Particles& particles, ObservationFrame& observation, const Model& model, std::span<const double> theta,
          const Request& request)
      : particles_(particles),
        observation_(observation),
        model_(model),
        theta_(theta),
        request_(request),
        ancestors_(particles.count()),
        w_((particles.count() + kLanes - 1) / kLanes * kLanes) {}

  // log of the mean weight of an observation, and systematic resampling with u; 0 where nothing is observed.
  template <class Where>
  double observe(double t, std::span<const double> values, double u, Where&& where,
                 std::vector<std::string>& warnings) {
    const std::size_t M = particles_.count();
    if (observation_.evaluate(t, values, particles_.x(), w_.data()) == 0) return 0;
    if (request_.effort.temper != 1)
      for (std::size_t i = 0; i < M; ++i) w_.data()[i] *= request_.effort.temper;
    const auto best = static_cast<std::size_t>(std::max_element(w_.data(), w_.data() + M) - w_.data());
    const WeightSum weights = exponentiate(w_.data(), M, kernels());
    if (degenerate(weights) && !(request_.accepts_implausible && std::isfinite(weights.largest)))
      warnings.push_back(describe({model_, theta_, particles_.x(), M, values, best, weights}, where()));
    systematic_resample({w_.data(), M}, weights.sum, u, ancestors_);
    particles_.select(ancestors_);
    return weights.largest + std::log(weights.sum / static_cast<double>(M));
  }

 private:
  Particles& particles_;
  ObservationFrame& observation_;
  const Model& model_;
  std::span<const double> theta_;
  const Request& request_;
  std::vector<std::uint32_t> ancestors_;
  AlignedBuffer w_;
};

// A law as it was drawn, and with what, should it have to be drawn again with wider windows.
struct ParticleLaw : Law {
  ParticleLaw(std::span<const double> theta, Draw d, Schedule s, LawPath p)
      : Law(theta), draw(d), schedule(std::move(s)), path(std::move(p)) {}
  Draw draw;
  Schedule schedule;
  LawPath path;
};
}  // namespace

ParticleEngine::ParticleEngine(ParticleProblem problem, NormalPrecision precision)
    : problem_(std::move(problem)), precision_(precision), prediction_(problem_.model()) {
  const System& system = problem_.system();
  const auto dynamics = system.dynamics(system.ranks()[problem_.first_rank()], false);
  law_kind_ = !dynamics->reads_law()             ? LawKind::none
              : dynamics->field.pairwise.empty() ? LawKind::moments
                                                 : LawKind::pairs;
  step_cost_ = (dynamics->move.cost() + kNormal * static_cast<double>(dynamics->sources)) / kTypical;
}

double ParticleEngine::step_cost(const Effort& e) const {
  return step_cost_ * (law_kind_ == LawKind::pairs ? static_cast<double>(e.law_particles) : 1);
}

LawPath ParticleEngine::draw(std::span<const double> theta, const Schedule& when, Draw d, const Request& r,
                             double margin) const {
  const auto stream = [&](Purpose purpose) {
    Stream out(d.seed, d.index, 0, purpose);
    out.antithetic = r.quiet_law;
    return out;
  };
  return draw_law(problem_.system(), when.grid, theta, {stream(Purpose::law_start), stream(Purpose::law)},
                  {.particles = r.effort.law_particles,
                   .precision = precision_,
                   .margin = margin,
                   .first_rank = problem_.first_rank()});
}

Result<std::shared_ptr<const Law>> ParticleEngine::law(std::span<const double> theta, Draw d, const Request& r) const {
  try {
    Schedule when = problem_.schedule(r.effort.level);
    LawPath path = draw(theta, when, d, r, 1);
    return std::shared_ptr<const Law>(std::make_shared<const ParticleLaw>(theta, d, std::move(when), std::move(path)));
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}

Outcome ParticleEngine::evaluate(const Law& law, [[maybe_unused]] Order order, Draw d, const Request& r) const {
  assert(order == Order::value);
  const auto& drawn = dynamic_cast<const ParticleLaw&>(law);
  try {
    auto out = filter(drawn.path, drawn.schedule, law.theta(), d, r);
    for (double margin = 2; !out; margin *= 2)
      out = filter(draw(law.theta(), drawn.schedule, drawn.draw, r, margin), drawn.schedule, law.theta(), d, r);
    if (std::isfinite(out->loglik)) return *std::move(out);
    return Failure{Failure::Code::undefined, "the log-likelihood is not finite"};
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}

std::optional<Evaluation> ParticleEngine::filter(const LawPath& law, const Schedule& when,
                                                 std::span<const double> theta, Draw d, const Request& r) const {
  const Grid& grid = when.grid;
  const auto stream = [&](Purpose purpose) { return Stream(d.seed, d.index, 0, purpose); };
  const Stream resampling = stream(Purpose::resample);
  Particles particles(problem_.system(), grid, r.effort.particles, precision_, kernels());
  ObservationFrame observation(problem_.observation(), r.effort.particles, kernels());
  observation.set_parameters(theta);
  PredictionFrame prediction(prediction_, kernels());
  prediction.set_parameters(theta);
  Weigher weigher(particles, observation, problem_.model(), theta, r);
  particles.set_law(law, theta);

  Evaluation out;
  std::uint64_t steps = law.dynamics->reads_law() ? grid.steps() * r.effort.law_particles : 0;
  for (std::size_t i = 0; i < problem_.data().series.size(); ++i) {
    particles.start(stream(Purpose::filter_start), static_cast<std::uint32_t>(i));
    FreshNoise noise({kernels(), precision_, stream(Purpose::filter), i * grid.steps(), law.dynamics->sources},
                     r.effort.particles);
    std::size_t at = 0;
    for (const Schedule::Visit& visit : when.visits[i]) {
      if (r.stop.stop_requested()) throw Stopped{};
      if (particles.move(at, visit.point, noise) != LawStatus::good) return std::nullopt;
      steps += r.effort.particles * (visit.point - at);
      at = visit.point;
      if (r.predictions)
        prediction.errors(grid.time[at], when.values(i, visit), {particles.x(), r.effort.particles},
                          out.prediction_errors);
      const double u = uniform(resampling, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(visit.row));
      out.loglik += weigher.observe(
          grid.time[at], when.values(i, visit), u, [&] { return when.where(i, visit); }, out.warnings);
    }
  }
  out.work = static_cast<double>(steps);
  return out;
}
}  // namespace mckean
