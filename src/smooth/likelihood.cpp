#include <algorithm>
#include <cmath>

#include "mckean/smooth.hpp"
#include "smooth/degeneracy.hpp"
#include "smooth/observation.hpp"
#include "smooth/particles.hpp"
#include "smooth/prediction.hpp"
#include "smooth/schedule.hpp"

namespace mckean {

struct LikelihoodEstimator::Parts {
  Parts(const Model& m, const Data& d, const LikelihoodOptions& o)
      : model(m), data(d), options(o), system(m), observation(m), prediction(m), schedule(d, o.level, o.unit) {}

  const Model& model;
  const Data& data;
  LikelihoodOptions options;
  System system;
  Observation observation;
  Prediction prediction;
  Schedule schedule;
  std::size_t first_rank = 0;
};

namespace {

// The bootstrap filter of one series given a law.
class Filter {
 public:
  Filter(Particles& particles, ObservationFrame& observation, const Model& model, std::span<const double> theta,
         const Kernels& kernels)
      : particles_(particles),
        observation_(observation),
        model_(model),
        theta_(theta),
        kernels_(kernels),
        ancestors_(particles.count()),
        w_((particles.count() + kLanes - 1) / kLanes * kLanes) {}

  // log of the mean weight of an observation, and systematic resampling with u; 0 where nothing is observed.
  template <class Where>
  double observe(double t, std::span<const double> values, double u, Where&& where,
                 std::vector<std::string>& warnings) {
    const std::size_t M = particles_.count();
    if (observation_.evaluate(t, values, particles_.x(), w_.data()) == 0) return 0;
    const auto best = static_cast<std::size_t>(std::max_element(w_.data(), w_.data() + M) - w_.data());
    const WeightSum weights = exponentiate(w_.data(), M, kernels_);
    if (degenerate(weights))
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
  const Kernels& kernels_;
  std::vector<std::uint32_t> ancestors_;
  AlignedBuffer w_;
};
}  // namespace

LikelihoodEstimator::LikelihoodEstimator(const Model& model, const Data& data, const LikelihoodOptions& options) {
  if (options.particles == 0 || options.law_particles == 0)
    throw InputError("the numbers of particles must be at least 1: --particles and --law-particles");
  check_support(model, data);
  auto parts = std::make_unique<Parts>(model, data, options);
  const LawNoise noise{{options.seed, 0, 0, Purpose::law_start}, {options.seed, 0, 0, Purpose::law}};
  parts->first_rank = find_rank(parts->system, parts->schedule.grid, model.start_values(), noise, {.particles = 256});
  parts_ = std::move(parts);
}

LikelihoodEstimator::~LikelihoodEstimator() = default;

Likelihood LikelihoodEstimator::operator()(std::span<const double> theta, std::uint32_t replicate) const {
  const Parts& p = *parts_;
  const Grid& grid = p.schedule.grid;
  const auto stream = [&](Purpose purpose) { return Stream(p.options.seed, replicate, 0, purpose); };
  const auto precision = p.options.full_precision ? NormalPrecision::full : NormalPrecision::single;
  const Stream resampling = stream(Purpose::resample);
  Particles particles(p.system, grid, p.options.particles, precision, kernels());
  ObservationFrame observation(p.observation, p.options.particles, kernels());
  observation.set_parameters(theta);
  PredictionFrame prediction(p.prediction, kernels());
  prediction.set_parameters(theta);
  Filter filter(particles, observation, p.model, theta, kernels());

  const auto draw = [&](double margin) {
    return draw_law(
        p.system, grid, theta, {stream(Purpose::law_start), stream(Purpose::law)},
        {.particles = p.options.law_particles, .precision = precision, .margin = margin, .first_rank = p.first_rank});
  };
  return with_wide_enough_law(draw, [&](const LawPath& law) {
    const std::size_t law_particles = law.dynamics->reads_law() ? p.options.law_particles : 0;
    Likelihood out{0, grid.steps() * law_particles, {}, {}};
    particles.set_law(law, theta);
    for (std::size_t s = 0; s < p.data.series.size(); ++s) {
      particles.start(stream(Purpose::filter_start), static_cast<std::uint32_t>(s));
      FreshNoise noise({kernels(), precision, stream(Purpose::filter), s * grid.steps(), law.dynamics->sources},
                       p.options.particles);
      std::size_t at = 0;
      for (const Schedule::Visit& visit : p.schedule.visits[s]) {
        particles.move(at, visit.point, noise);
        out.particle_steps += p.options.particles * (visit.point - at);
        at = visit.point;
        prediction.errors(grid.time[at], p.schedule.values(s, visit), particles.x(), p.options.particles,
                          out.prediction_errors);
        const double u = uniform(resampling, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(visit.row));
        out.log_value += filter.observe(
            grid.time[at], p.schedule.values(s, visit), u, [&] { return p.schedule.where(s, visit); }, out.warnings);
      }
    }
    return out;
  });
}

LikelihoodSummary summarise(std::span<const double> log_values) {
  const double largest = *std::ranges::max_element(log_values);
  const double n = static_cast<double>(log_values.size());
  double mean = 0, squares = 0;
  for (const double v : log_values) mean += std::exp(v - largest) / n;
  for (const double v : log_values) squares += std::pow(std::exp(v - largest) / mean - 1, 2);
  LikelihoodSummary out{largest + std::log(mean), std::nullopt};
  if (log_values.size() > 1) out.se = std::sqrt(squares / (n - 1) / n);
  return out;
}
}  // namespace mckean
