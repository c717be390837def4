#include "engine/particles/particle_engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/particles/ahead_limits.hpp"
#include "engine/particles/degeneracy.hpp"
#include "mckean/tasks.hpp"

namespace mckean {
namespace {

constexpr double kNormal = 5, kTypical = 20;  // what a normal variate costs, and a step of a model of two equations

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
  law_kind_ = !dynamics->reads_law()                                ? LawKind::none
              : dynamics->field.pairwise.empty() || dynamics->cells ? LawKind::moments
                                                                    : LawKind::pairs;
}

double ParticleEngine::step_cost(const Effort& e) const {
  const System& system = problem_.system();
  const std::size_t rank = system.ranks()[problem_.first_rank()];
  const double pairs = law_kind_ == LawKind::pairs ? static_cast<double>(e.law_particles) : 1;
  const double noise = kNormal * static_cast<double>(problem_.model().noise_sources());
  if (!e.ahead || !looks_ahead())
    return (system.dynamics(e.scheme, rank, false)->move.cost() + noise) / kTypical * pairs;
  // A step of n between two observations is followed by (n − 1)/2 others in its forecast, and by one more for ψ.
  const auto ahead = system.ahead(e.scheme, rank);
  const Grid grid = problem_.schedule({e.level, e.scheme}).grid;
  const double n = static_cast<double>(grid.steps()) / static_cast<double>(grid.points.size());
  return (ahead->launch.cost() + ahead->steer.cost() + std::max(0.0, n - 1) / 2 * ahead->carry.cost() +
          ahead->flow.cost() + noise) /
         kTypical * pairs;
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

Outcome ParticleEngine::evaluate(const Law& law, [[maybe_unused]] Order order, Draw d, const Request& r) const {
  assert(order == Order::value);
  if (const auto refused = refuses_ahead(problem_.model()); r.effort.ahead && refused)
    return Failure{Failure::Code::undefined, *refused};
  const auto& drawn = dynamic_cast<const ParticleLaw&>(law);
  try {
    auto out = filter(drawn.path, drawn.schedule, law.theta(), d, r);
    for (double margin = 2; !out; margin *= 2)
      out = filter(draw(law.theta(), drawn.schedule, drawn.draw, r, margin), drawn.schedule, law.theta(), d, r);
    if (std::isfinite(out->loglik)) return *std::move(out);
    return Failure{Failure::Code::undefined, "the log-likelihood is not finite"};
  } catch (const Explosion& e) {
    return Failure{Failure::Code::too_coarse, e.what()};
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}

namespace {

// The bootstrap filter: what is done with its weights.
class LikelihoodFilter {
 public:
  LikelihoodFilter(FilterLevel& level, const Model& model, PredictionFrame& prediction, const Request& request,
                   const Stream& resampling)
      : level_(level),
        model_(model),
        prediction_(prediction),
        request_(request),
        resampling_(resampling),
        ancestors_(level.particles()) {}

  // log of the mean weight at a row of a series, and systematic resampling; nothing where nothing is observed.
  void visit(std::size_t series, const Schedule::Visit& visit, bool last) {
    if (request_.stop.stop_requested()) throw Stopped{};
    const Schedule& schedule = level_.schedule();
    const auto values = schedule.values(series, visit);
    level_.arrive(visit.point);
    if (request_.predictions)
      prediction_.errors(schedule.grid.time[visit.point], values, {level_.x(), level_.particles()},
                         result.prediction_errors);
    const auto log_w = level_.weigh(visit.point, values, request_.effort.temper);
    if (log_w.empty()) return level_.keep_weights(visit.point);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(log_w) - log_w.begin());
    const WeightSum sum = level_.normalise(visit.point, last);
    if (degenerate(sum) && !(request_.accepts_implausible && std::isfinite(sum.largest)))
      result.warnings.push_back(describe({model_, level_.theta(), level_.x(), level_.particles(), values, best, sum},
                                         schedule.where(series, visit)));
    const double u = uniform(resampling_, static_cast<std::uint32_t>(series), static_cast<std::uint32_t>(visit.row));
    systematic_resample(level_.weights(), sum.sum, u, ancestors_);
    level_.resample(ancestors_);
    result.loglik += sum.largest + std::log(sum.sum / static_cast<double>(level_.particles()));
  }

  Evaluation result;

 private:
  FilterLevel& level_;
  const Model& model_;
  PredictionFrame& prediction_;
  const Request& request_;
  Stream resampling_;
  std::vector<std::uint32_t> ancestors_;
};
}  // namespace

std::optional<Evaluation> ParticleEngine::filter(const LawPath& law, const Schedule& when,
                                                 std::span<const double> theta, Draw d, const Request& r) const {
  const auto stream = [&](Purpose purpose) { return Stream(d.seed, d.index, 0, purpose); };
  FilterOptions options{r.effort.particles, precision_};
  if (r.effort.ahead) options.ahead = {r.effort.widening, r.effort.temper};
  FilterLevel level(problem_.system(), problem_.observation(), when, options, kernels());
  level.set_law(law, theta);
  PredictionFrame prediction(prediction_, kernels());
  prediction.set_parameters(theta);
  LikelihoodFilter likelihood(level, problem_.model(), prediction, r, stream(Purpose::resample));
  std::uint64_t steps = law.dynamics->reads_law() ? when.grid.steps() * r.effort.law_particles : 0;
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < when.visits.size(); ++i) {
    const auto& visits = when.visits[i];
    points.clear();
    for (const Schedule::Visit& v : visits) points.push_back(v.point);
    level.begin(i, stream(Purpose::filter_start));
    FreshNoise noise({kernels(), precision_, stream(Purpose::filter), i * when.grid.steps(), law.dynamics->sources},
                     r.effort.particles);
    DrivenLevel driven{level, noise};
    const auto at_stop = [&](std::size_t v) { likelihood.visit(i, visits[v], v + 1 == visits.size()); };
    if (run_filter({&driven, 1}, points, at_stop) != LawStatus::good) return std::nullopt;
    steps += r.effort.particles * points.back();
  }
  likelihood.result.work = static_cast<double>(steps);
  return std::move(likelihood.result);
}
}  // namespace mckean
