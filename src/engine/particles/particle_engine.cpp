#include "engine/particles/particle_engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/particles/ahead_limits.hpp"
#include "engine/particles/degeneracy.hpp"
#include "mckean/tasks.hpp"

namespace mckean {
namespace {

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
  const auto dynamics = system.dynamics(Scheme::euler, system.ranks()[problem_.first_rank()], false);
  law_kind_ = !dynamics->reads_law()             ? LawKind::none
              : dynamics->field.pairwise.empty() ? LawKind::moments
                                                 : LawKind::pairs;
}

double ParticleEngine::step_cost(const Effort& e) const {
  const System& system = problem_.system();
  const std::size_t rank = system.ranks()[problem_.first_rank()];
  const double pairs = law_kind_ == LawKind::pairs ? static_cast<double>(e.law_particles) : 1;
  if (!e.ahead || !looks_ahead()) return system.dynamics(e.scheme, rank, false)->cost() * pairs;
  const double noise = kNormalCost * static_cast<double>(problem_.model().noise_sources());
  // A step of n between two observations is followed by (n − 1)/2 others in its forecast, and by one more for ψ.
  const auto ahead = system.ahead(e.scheme, rank);
  const Grid grid = problem_.schedule({e.level, e.scheme}).grid;
  const double n = static_cast<double>(grid.steps()) / static_cast<double>(grid.points.size());
  return (ahead->launch.cost() + ahead->steer.cost() + std::max(0.0, n - 1) / 2 * ahead->carry.cost() +
          ahead->flow.cost() + noise) /
         kTypicalCost * pairs;
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
    Schedule when = problem_.schedule({r.effort.level, r.effort.scheme});
    LawPath path = draw(theta, when, d, r, 1);
    return std::shared_ptr<const Law>(std::make_shared<const ParticleLaw>(theta, d, std::move(when), std::move(path)));
  } catch (const Explosion& e) {
    return Failure{Failure::Code::too_coarse, e.what()};
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}

namespace {

// The bootstrap filter given a law.
class LikelihoodFilter {
 public:
  LikelihoodFilter(const ParticleProblem& problem, const Prediction& prediction, NormalPrecision precision,
                   const Schedule& schedule, Draw draw, const Request& request)
      : model_(problem.model()),
        schedule_(schedule),
        draw_(draw),
        request_(request),
        options_(options(precision, request)),
        level_(problem.system(), problem.observation(), schedule, options_, kernels()),
        prediction_(prediction, kernels()),
        ancestors_(request.effort.particles) {}

  // None: a particle left a window of the law.
  std::optional<Evaluation> run(const LawPath& law, std::span<const double> theta) {
    const std::size_t particles = level_.particles();
    level_.set_law(law, theta);
    prediction_.set_parameters(theta);
    result_ = {};
    std::uint64_t steps = law.dynamics->reads_law() ? schedule_.grid.steps() * request_.effort.law_particles : 0;
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < schedule_.visits.size(); ++i) {
      const auto& visits = schedule_.visits[i];
      points.clear();
      for (const Schedule::Visit& v : visits) points.push_back(v.point);
      level_.begin(i, stream(Purpose::filter_start));
      FreshNoise noise(
          {kernels(), options_.precision, stream(Purpose::filter), i * schedule_.grid.steps(), law.dynamics->sources},
          particles);
      DrivenLevel driven{level_, noise};
      const auto at_stop = [&](std::size_t v) { visit(i, visits[v], v + 1 == visits.size()); };
      if (run_filter({&driven, 1}, points, at_stop) != LawStatus::good) return std::nullopt;
      steps += particles * points.back();
    }
    result_.work = static_cast<double>(steps);
    return std::move(result_);
  }

 private:
  static FilterOptions options(NormalPrecision precision, const Request& request) {
    FilterOptions out{request.effort.particles, precision};
    if (request.effort.ahead) out.ahead = {request.effort.widening, request.effort.temper};
    return out;
  }

  Stream stream(Purpose purpose) const { return Stream(draw_.seed, draw_.index, 0, purpose); }

  // log of the mean weight at a row of a series, and systematic resampling; nothing where nothing is observed.
  void visit(std::size_t series, const Schedule::Visit& visit, bool last) {
    if (request_.stop.stop_requested()) throw Stopped{};
    const auto values = schedule_.values(series, visit);
    level_.arrive(visit.point);
    if (request_.predictions)
      prediction_.errors(schedule_.grid.time[visit.point], values, {level_.x(), level_.particles()},
                         result_.prediction_errors);
    const auto log_w = level_.weigh(visit.point, values, request_.effort.temper);
    if (log_w.empty()) return level_.keep_weights(visit.point);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(log_w) - log_w.begin());
    const WeightSum sum = level_.normalise(visit.point, last);
    if (degenerate(sum) && !(request_.accepts_implausible && std::isfinite(sum.largest)))
      result_.warnings.push_back(describe({model_, level_.theta(), level_.x(), level_.particles(), values, best, sum},
                                          schedule_.where(series, visit)));
    const double u =
        uniform(stream(Purpose::resample), static_cast<std::uint32_t>(series), static_cast<std::uint32_t>(visit.row));
    systematic_resample(level_.weights(), sum.sum, u, ancestors_);
    level_.resample(ancestors_);
    result_.loglik += sum.largest + std::log(sum.sum / static_cast<double>(level_.particles()));
  }

  const Model& model_;
  const Schedule& schedule_;
  Draw draw_;
  const Request& request_;
  FilterOptions options_;
  FilterLevel level_;
  PredictionFrame prediction_;
  std::vector<std::uint32_t> ancestors_;
  Evaluation result_;
};
}  // namespace

Outcome ParticleEngine::evaluate(const Law& law, [[maybe_unused]] Order order, Draw d, const Request& r) const {
  assert(order == Order::value);
  if (const auto refused = refuses_ahead(problem_.model()); r.effort.ahead && refused)
    return Failure{Failure::Code::undefined, *refused};
  const auto& drawn = dynamic_cast<const ParticleLaw&>(law);
  try {
    LikelihoodFilter filter(problem_, prediction_, precision_, drawn.schedule, d, r);
    LawPath wider;
    const LawPath* path = &drawn.path;
    for (double margin = 2;; margin *= 2) {
      if (auto out = filter.run(*path, law.theta())) {
        if (std::isfinite(out->loglik)) return *std::move(out);
        return Failure{Failure::Code::undefined, "the log-likelihood is not finite"};
      }
      wider = draw(law.theta(), drawn.schedule, drawn.draw, r, margin);
      path = &wider;
    }
  } catch (const Explosion& e) {
    return Failure{Failure::Code::too_coarse, e.what()};
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}
}  // namespace mckean
