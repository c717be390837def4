#include "engine/particles/particle_likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "engine/particles/degeneracy.hpp"
#include "problem/support.hpp"

namespace mckean {
namespace {

constexpr double kNormal = 5, kTypical = 20;  // what a normal variate costs, and a step of a model of two equations

// Weighs and resamples the particles of one series at an observation.
class Weigher {
 public:
  Weigher(Particles& particles, ObservationFrame& observation, const Model& model, std::span<const double> theta,
          const FilterSettings& settings)
      : particles_(particles),
        observation_(observation),
        model_(model),
        theta_(theta),
        settings_(settings),
        ancestors_(particles.count()),
        w_((particles.count() + kLanes - 1) / kLanes * kLanes) {}

  // log of the mean weight of an observation, and systematic resampling with u; 0 where nothing is observed.
  template <class Where>
  double observe(double t, std::span<const double> values, double u, Where&& where,
                 std::vector<std::string>& warnings) {
    const std::size_t M = particles_.count();
    if (observation_.evaluate(t, values, particles_.x(), w_.data()) == 0) return 0;
    if (settings_.temper != 1)
      for (std::size_t i = 0; i < M; ++i) w_.data()[i] *= settings_.temper;
    const auto best = static_cast<std::size_t>(std::max_element(w_.data(), w_.data() + M) - w_.data());
    const WeightSum weights = exponentiate(w_.data(), M, kernels());
    if (degenerate(weights) && !(settings_.accepts_implausible && std::isfinite(weights.largest)))
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
  const FilterSettings& settings_;
  std::vector<std::uint32_t> ancestors_;
  AlignedBuffer w_;
};
}  // namespace

ParticleLikelihood::ParticleLikelihood(const Model& model, const Data& data, double unit, int rank_level,
                                       std::uint64_t seed)
    : model_(model), data_(data), unit_(unit), system_(model), observation_(model), prediction_(model) {
  check_support(model, data);
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  first_rank_ = find_rank(system_, schedule(rank_level).grid, model.start_values(), noise, {.particles = 256});
  const auto dynamics = system_.dynamics(system_.ranks()[first_rank_], false);
  reads_law_ = dynamics->reads_law();
  pairwise_ = !dynamics->field.pairwise.empty();
  step_cost_ = (dynamics->move.cost() + kNormal * static_cast<double>(dynamics->sources)) / kTypical;
}

const Schedule& ParticleLikelihood::schedule(int level) const {
  const std::scoped_lock lock(mutex_);
  auto& made = schedules_[level];
  if (!made) made = std::make_unique<const Schedule>(data_, level, unit_);
  return *made;
}

Likelihood ParticleLikelihood::operator()(std::span<const double> theta, const FilterSettings& s,
                                          const std::stop_token& stop) const {
  const auto stream = [&](Purpose purpose) {
    Stream out(s.seed, s.replicate, 0, purpose);
    out.antithetic = s.antithetic_law;
    return out;
  };
  const auto draw = [&](double margin) {
    return draw_law(
        system_, schedule(s.level).grid, theta, {stream(Purpose::law_start), stream(Purpose::law)},
        {.particles = s.law_particles, .precision = s.precision, .margin = margin, .first_rank = first_rank_});
  };
  return with_wide_enough_law(draw, [&](const LawPath& law) { return filter(law, theta, s, stop); });
}

Likelihood ParticleLikelihood::filter(const LawPath& law, std::span<const double> theta, const FilterSettings& s,
                                      const std::stop_token& stop) const {
  const Schedule& when = schedule(s.level);
  const Grid& grid = when.grid;
  const auto stream = [&](Purpose purpose) { return Stream(s.seed, s.replicate, 0, purpose); };
  const Stream resampling = stream(Purpose::resample);
  Particles particles(system_, grid, s.particles, s.precision, kernels());
  ObservationFrame observation(observation_, s.particles, kernels());
  observation.set_parameters(theta);
  PredictionFrame prediction(prediction_, kernels());
  prediction.set_parameters(theta);
  Weigher weigher(particles, observation, model_, theta, s);
  particles.set_law(law, theta);

  Likelihood out{0, law.dynamics->reads_law() ? grid.steps() * s.law_particles : 0, {}, {}};
  for (std::size_t i = 0; i < data_.series.size(); ++i) {
    particles.start(stream(Purpose::filter_start), static_cast<std::uint32_t>(i));
    FreshNoise noise({kernels(), s.precision, stream(Purpose::filter), i * grid.steps(), law.dynamics->sources},
                     s.particles);
    std::size_t at = 0;
    for (const Schedule::Visit& visit : when.visits[i]) {
      if (stop.stop_requested()) throw Stopped{};
      particles.move(at, visit.point, noise);
      out.particle_steps += s.particles * (visit.point - at);
      at = visit.point;
      if (s.predictions)
        prediction.errors(grid.time[at], when.values(i, visit), particles.x(), s.particles, out.prediction_errors);
      const double u = uniform(resampling, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(visit.row));
      out.log_value += weigher.observe(
          grid.time[at], when.values(i, visit), u, [&] { return when.where(i, visit); }, out.warnings);
    }
  }
  return out;
}
}  // namespace mckean
