#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "law/law.hpp"
#include "mckean/smooth.hpp"
#include "smooth/observation.hpp"
#include "smooth/weights.hpp"

namespace mckean {

struct LikelihoodEstimator::Parts {
  Parts(const Model& m, const Data& d, const LikelihoodOptions& o)
      : model(m),
        data(d),
        options(o),
        system(m),
        observation(m),
        times(observation_times(d)),
        grid(times, o.level, o.unit) {}

  const Model& model;
  const Data& data;
  LikelihoodOptions options;
  System system;
  Observation observation;
  std::vector<double> times;
  Grid grid;
  std::vector<std::vector<int>> rows;  // series by series, grid point by grid point: the row observed there, or −1
  std::size_t first_rank = 0;
};

namespace {

// A filter's particle left the window on which the law's interaction is expanded.
struct WindowLeft {};

// From here down an observation has likelihood zero in double precision.
constexpr double kLogZero = -700;

// The bootstrap filter of one series, given a law.
class Filter {
 public:
  Filter(const Model& model, const Grid& grid, const LawPath& law, const Observation& observation,
         std::size_t particles, std::span<const double> theta, const Kernels& kernels)
      : model_(model),
        grid_(grid),
        law_(law),
        theta_(theta),
        kernels_(kernels),
        particles_(particles),
        move_(law.dynamics->move, kernels),
        observation_(observation, particles, kernels),
        ancestors_(particles),
        log_w_((particles + kLanes - 1) / kLanes * kLanes),
        noise_(law.dynamics->sources * kBlock) {
    for (Columns& x : x_) x = Columns(model.dimension(), particles);
    xi_ = Columns(law.dynamics->field.pairwise.size(), particles);
    move_.set_fixed(theta);
    observation_.set_parameters(theta);
    if (law.dynamics->read_pair) pair_.emplace(*law.dynamics->read_pair, kernels), pair_->set_fixed(theta);
  }

  void start(const Stream& stream, NormalPrecision precision) {
    precision_ = precision;
    fill_start(model_, kernels_, precision, stream, particles_, x_[0]);
  }

  // x + a Δ + σ √Δ z for all particles, step k of the grid; `noise_step` numbers it among all series.
  void step(std::size_t k, const Stream& stream, std::uint32_t noise_step) {
    const Dynamics& dynamics = *law_.dynamics;
    const auto inputs = law_.inputs_at(k);
    stay_inside(inputs);
    if (pair_) read_pairwise(k);
    uniforms_.assign({grid_.time[k], grid_.dt[k], std::sqrt(grid_.dt[k])});
    uniforms_.insert(uniforms_.end(), inputs.begin(), inputs.end());
    move_.set_uniforms(uniforms_);
    const std::size_t d = dynamics.dimension;
    std::vector<const double*> in(d + xi_.count() + dynamics.sources);
    std::vector<double*> out(d);
    for (std::size_t first = 0; first < particles_; first += kBlock) {
      const std::size_t n = std::min(kBlock, particles_ - first);
      for (std::size_t c = 0; c < d; ++c) in[c] = x_[now_][c] + first, out[c] = x_[1 - now_][c] + first;
      for (std::size_t p = 0; p < xi_.count(); ++p) in[d + p] = xi_[p] + first;
      for (std::size_t j = 0; j < dynamics.sources; ++j) {
        double* z = noise_.data() + j * kBlock;
        normals(kernels_, precision_, stream,
                {noise_step, static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(dynamics.sources)}, first,
                (n + kTileSize - 1) / kTileSize * kTileSize, z);
        in[d + xi_.count() + j] = z;
      }
      move_.run(in, out, n);
    }
    now_ = 1 - now_;
  }

  // log of the mean weight at an observation, and resampling. Nothing observed: 0.
  double observe(double t, std::span<const double> values, double u, const std::string& where,
                 std::vector<std::string>& warnings) {
    const std::size_t observed = observation_.evaluate(t, values, x_[now_], log_w_.data());
    if (observed == 0) return 0;
    const auto best =
        static_cast<std::size_t>(std::max_element(log_w_.data(), log_w_.data() + particles_) - log_w_.data());
    const WeightSum w = exponentiate(log_w_.data(), particles_, kernels_);
    if (!std::isfinite(w.largest)) no_weight(values, w.largest, where);
    const double log_mean = w.largest + std::log(w.sum / static_cast<double>(particles_));
    if (w.effective() < 1 + 1e-6) {
      const std::string text = describe(values, best, w.largest, where);
      if (log_mean < kLogZero * static_cast<double>(observed))
        throw NumericalError(text + "; no particle explains it: check the value and the parameters");
      warnings.push_back(text + "; one particle carries all the weight: raise --particles, or check the value");
    }
    systematic_resample({log_w_.data(), particles_}, w.sum, u, ancestors_);
    for (std::size_t c = 0; c < model_.dimension(); ++c)
      for (std::size_t i = 0; i < particles_; ++i) x_[1 - now_][c][i] = x_[now_][c][ancestors_[i]];
    now_ = 1 - now_;
    return log_mean;
  }

 private:
  void stay_inside(std::span<const double> inputs) const {
    for (const Window& w : law_.dynamics->field.windows) {
      const double* x = x_[now_][w.component];
      const auto [low, high] = std::minmax_element(x, x + particles_);
      const double center = inputs[w.center_input], scale = inputs[w.center_input + 1];
      if ((*high - center) * scale > 1 || (center - *low) * scale > 1) throw WindowLeft{};
    }
  }

  void read_pairwise(std::size_t k) {
    const double* base = law_.positions.data() + k * law_.position_columns * law_.particles;
    std::vector<const double*> others(model_.dimension()), own(model_.dimension());
    std::vector<double*> means(xi_.count());
    for (std::size_t c = 0; c < others.size(); ++c) others[c] = base + c * law_.particles;
    for (std::size_t first = 0; first < particles_; first += kBlock) {
      for (std::size_t c = 0; c < own.size(); ++c) own[c] = x_[now_][c] + first;
      for (std::size_t p = 0; p < means.size(); ++p) means[p] = xi_[p] + first;
      pairwise_means(*pair_, grid_.time[k], others, law_.particles, own, means, std::min(kBlock, particles_ - first),
                     kernels_);
    }
  }

  std::string observation_text(std::span<const double> values) const {
    std::string text;
    for (std::size_t c = 0; c < values.size() && text.size() < 200; ++c)
      if (!std::isnan(values[c]))
        text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", model_.columns()[c], values[c]);
    return text;
  }

  std::string particle_text(std::size_t i) const {
    std::string text;
    for (std::size_t c = 0; c < model_.dimension() && text.size() < 200; ++c)
      text += fmt::format("{}{} = {:.6g}", c ? ", " : "", model_.components()[c].name, x_[now_][c][i]);
    return text;
  }

  std::string describe(std::span<const double> values, std::size_t best, double log_g, const std::string& where) const {
    return fmt::format("{}: observation {}, nearest particle {} with log density {:.6g}, at {}", where,
                       observation_text(values), particle_text(best), log_g, parameters_to_text(model_, theta_));
  }

  [[noreturn]] void no_weight(std::span<const double> values, double log_g, const std::string& where) {
    std::string range;
    for (std::size_t c = 0; c < model_.dimension() && range.size() < 200; ++c) {
      const auto [low, high] = std::minmax_element(x_[now_][c], x_[now_][c] + particles_);
      range += fmt::format("{}{} from {:.6g} to {:.6g}", c ? ", " : "", model_.components()[c].name, *low, *high);
    }
    throw NumericalError(fmt::format(
        "{}: observation {}: the log density is {} {}, at {}, where the particles have {}; check the value, the "
        "observation's density and the parameters",
        where, observation_text(values), log_g, std::isnan(log_g) ? "for some particle" : "for every particle",
        parameters_to_text(model_, theta_), range));
  }

  const Model& model_;
  const Grid& grid_;
  const LawPath& law_;
  std::span<const double> theta_;
  const Kernels& kernels_;
  std::size_t particles_;
  Columns x_[2], xi_;
  std::size_t now_ = 0;
  Frame move_;
  std::optional<Frame> pair_;
  ObservationFrame observation_;
  std::vector<std::uint32_t> ancestors_;
  AlignedBuffer log_w_, noise_;
  std::vector<double> uniforms_;
  NormalPrecision precision_ = NormalPrecision::single;
};

std::vector<std::vector<int>> rows_on_grid(const Data& data, const std::vector<double>& times, const Grid& grid) {
  std::map<double, std::size_t> point;
  for (std::size_t i = 0; i < times.size(); ++i) point[times[i]] = grid.points[i];
  std::vector<std::vector<int>> rows;
  for (const auto& s : data.series) {
    rows.emplace_back(grid.steps() + 1, -1);
    for (std::size_t r = 0; r < s.times.size(); ++r) rows.back()[point.at(s.times[r])] = static_cast<int>(r);
  }
  return rows;
}
}  // namespace

LikelihoodEstimator::LikelihoodEstimator(const Model& model, const Data& data, const LikelihoodOptions& options) {
  if (options.particles == 0 || options.law_particles == 0)
    throw InputError("the numbers of particles must be at least 1: --particles and --law-particles");
  check_support(model, data);
  auto parts = std::make_unique<Parts>(model, data, options);
  parts->rows = rows_on_grid(data, parts->times, parts->grid);
  const Stream start(options.seed, 0, 0, Purpose::law_start), path(options.seed, 0, 0, Purpose::law);
  parts->first_rank = find_rank(parts->system, parts->grid, model.start_values(), {start, path}, {.particles = 256});
  parts_ = std::move(parts);
}

LikelihoodEstimator::~LikelihoodEstimator() = default;

Likelihood LikelihoodEstimator::operator()(std::span<const double> theta, std::uint32_t replicate) const {
  const Parts& p = *parts_;
  const auto stream = [&](Purpose purpose) { return Stream(p.options.seed, replicate, 0, purpose); };
  const auto precision = p.options.full_precision ? NormalPrecision::full : NormalPrecision::single;
  const std::size_t steps = p.grid.steps();
  LawOptions law_options{.particles = p.options.law_particles, .precision = precision, .first_rank = p.first_rank};
  for (;; law_options.margin *= 2) {
    try {
      const LawPath law =
          draw_law(p.system, p.grid, theta, {stream(Purpose::law_start), stream(Purpose::law)}, law_options);
      Likelihood out{0, p.options.law_particles * steps + p.options.particles * steps * p.data.series.size(), {}};
      for (std::size_t s = 0; s < p.data.series.size(); ++s) {
        const Series& series = p.data.series[s];
        Filter filter(p.model, p.grid, law, p.observation, p.options.particles, theta, kernels());
        filter.start(Stream(p.options.seed, replicate, static_cast<std::uint32_t>(s), Purpose::filter_start),
                     precision);
        for (std::size_t k = 0; k <= steps; ++k) {
          if (k > 0) filter.step(k - 1, stream(Purpose::filter), static_cast<std::uint32_t>(s * steps + k - 1));
          const int row = p.rows[s][k];
          if (row < 0) continue;
          const std::size_t r = static_cast<std::size_t>(row), width = p.data.columns.size();
          const double u =
              uniform(stream(Purpose::resample), static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(r));
          const std::string where = fmt::format("{}:{}: t = {:.6g}{}", p.data.source, series.lines[r], series.times[r],
                                                series.name.empty() ? "" : ", series " + series.name);
          out.log_value += filter.observe(series.times[r], std::span(series.values).subspan(r * width, width), u, where,
                                          out.warnings);
        }
      }
      return out;
    } catch (const WindowLeft&) {
    }
  }
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
