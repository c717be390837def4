#include "mckean/simulate.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <random>

#include "law/law.hpp"
#include "model/density.hpp"

namespace mckean {
namespace {

// A random engine over one counter: the standard distributions draw from it, and nothing depends on order.
class CounterEngine {
 public:
  using result_type = std::uint32_t;
  CounterEngine(const Stream& stream, std::uint32_t step) : stream_(stream), step_(step) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~0u; }
  result_type operator()() { return static_cast<result_type>(uniform(stream_, step_, next_++) * 4294967296.0); }

 private:
  Stream stream_;
  std::uint32_t step_, next_ = 0;
};

template <class D>
double draw_from(D distribution, CounterEngine& engine) {
  return static_cast<double>(distribution(engine));
}

// One variate of a named distribution, or NaN where its arguments make none.
double draw(Distribution d, std::span<const double> a, CounterEngine& engine) {
  for (const double v : a)
    if (!std::isfinite(v)) return std::nan("");
  switch (d) {
    case Distribution::normal:
      return a[1] > 0 ? draw_from(std::normal_distribution(a[0], a[1]), engine) : std::nan("");
    case Distribution::lognormal:
      return a[1] > 0 ? draw_from(std::lognormal_distribution(a[0], a[1]), engine) : std::nan("");
    case Distribution::student_t:
      return a[0] > 0 && a[2] > 0 ? a[1] + a[2] * draw_from(std::student_t_distribution(a[0]), engine) : std::nan("");
    case Distribution::poisson:
      if (a[0] == 0) return 0;
      return a[0] > 0 && a[0] < 1e15 ? draw_from(std::poisson_distribution<long>(a[0]), engine) : std::nan("");
    case Distribution::negative_binomial: {  // a Poisson variate whose rate is gamma distributed
      if (a[0] == 0) return 0;
      if (!(a[0] > 0 && a[1] > 0)) return std::nan("");
      const double rate = draw_from(std::gamma_distribution(a[1], a[0] / a[1]), engine);
      return rate > 0 ? draw_from(std::poisson_distribution<long>(rate), engine) : 0;
    }
    case Distribution::binomial:
      if (!(a[0] >= 0 && a[0] == std::trunc(a[0]) && a[1] >= 0 && a[1] <= 1)) return std::nan("");
      return draw_from(std::binomial_distribution<long>(static_cast<long>(a[0]), a[1]), engine);
    case Distribution::custom:
      break;
  }
  return std::nan("");
}

// Observes the first particles of a cloud.
class Observer {
 public:
  Observer(const Model& model, std::span<const double> theta, const Kernels& kernels)
      : model_(model), program_(spec(model)), frame_(program_, kernels), memory_(program_.outputs() * kBlock) {
    frame_.set_fixed(theta);
  }

  void observe(double t, const Stream& noise, const Columns& x, Data& data) {
    frame_.set_uniforms(std::span(&t, 1));
    std::vector<const double*> in(model_.dimension());
    std::vector<double*> out(program_.outputs());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = memory_.data() + k * kBlock;
    for_blocks(data.series.size(), [&](std::size_t first, std::size_t n) {
      for (std::size_t c = 0; c < in.size(); ++c) in[c] = x[c] + first;
      frame_.run(in, out, n);
      for (std::size_t i = 0; i < n; ++i) one(t, noise, out, i, data.series[first + i], first + i);
    });
  }

 private:
  static ProgramSpec spec(const Model& model) {
    ProgramSpec s{model.parameter_symbols(), {model.time()}, {}, {}, {}};
    for (const auto& c : model.components()) s.columns.push_back(c.symbol);
    for (const auto& y : model.observed()) s.outputs.insert(s.outputs.end(), y.arguments.begin(), y.arguments.end());
    return s;
  }

  // "student_t with df = -1, location = 0, scale = 1"
  static std::string described(const DistributionInfo& distribution, const std::vector<double>& arguments) {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < arguments.size(); ++k)
      parts.push_back(fmt::format("{} = {:.6g}", distribution.arguments[k], arguments[k]));
    return fmt::format("{} with {}", distribution.name, fmt::join(parts, ", "));
  }

  void one(double t, const Stream& noise, const std::vector<double*>& arguments, std::size_t i, Series& series,
           std::size_t number) {
    series.times.push_back(t);
    series.lines.push_back(0);
    std::size_t at = 0;
    for (std::size_t c = 0; c < model_.observed().size(); ++c) {
      const ObservedColumn& column = model_.observed()[c];
      std::vector<double> a;
      for (std::size_t k = 0; k < column.arguments.size(); ++k) a.push_back(arguments[at++][i]);
      CounterEngine engine(noise, static_cast<std::uint32_t>(number * model_.observed().size() + c));
      const double y = draw(column.distribution, a, engine);
      if (std::isnan(y))
        throw NumericalError(fmt::format("'{}' cannot be drawn at t = {:.6g}: {}", column.name, t,
                                         described(info(column.distribution), a)));
      series.values.push_back(y);
    }
  }

  const Model& model_;
  Program program_;
  Frame frame_;
  AlignedBuffer memory_;
};

Data no_data(const Model& model, std::size_t series) {
  Data data{"simulated", model.columns(), std::vector<Series>(series)};
  for (std::size_t s = 0; s < series && series > 1; ++s) data.series[s].name = fmt::format("{}", s + 1);
  return data;
}
}  // namespace

void require_possible(const Model& model, const SimulateOptions& options) {
  if (options.law_particles == 0) throw SettingError("law_particles must be at least 1");
  if (options.series == 0) throw SettingError("series must be at least 1");
  if (options.series > options.law_particles)
    throw SettingError(fmt::format("law_particles {} are too few: {} series need at least as many",
                                   options.law_particles, options.series));
  for (const auto& y : model.observed())
    if (y.distribution == Distribution::custom)
      throw InputError(
          fmt::format("'{}' is observed through a bare log density, which cannot be drawn from; use a named "
                      "distribution to simulate",
                      y.name));
}

Data simulate(const Model& model, std::span<const double> theta, std::span<const double> times,
              const SimulateOptions& options, const PathObserver& watch) {
  require_possible(model, options);
  const Grid grid = with_states_between(Grid(times, options.level, options.unit, options.scheme));
  const System system(model);
  const Stream start(options.seed, 0, 0, Purpose::data_start), path(options.seed, 0, 0, Purpose::data_path);
  const auto precision = options.full_precision ? NormalPrecision::full : NormalPrecision::single;
  const LawNoise noise{start, path};
  LawOptions law{.particles = options.law_particles, .precision = precision};
  if (watch) law.first_rank = find_rank(system, grid, theta, noise, law);  // beforehand: what is shown is shown once

  Data data;
  Observer observer(model, theta, kernels());
  std::size_t next = 0;
  const auto observe = [&](std::size_t k, const Cloud& cloud) {
    std::vector<const double*> columns;
    for (std::size_t c = 0; c < model.dimension(); ++c) columns.push_back(cloud.state()[c]);
    if (watch && (k == 0 || grid.step[k - 1].flow > 0)) watch(grid.time[k], columns);
    for (; next < times.size() && grid.points[next] == k; ++next)
      observer.observe(times[next], Stream(options.seed, 0, static_cast<std::uint32_t>(next), Purpose::data),
                       cloud.state(), data);
  };
  for (;; ++law.first_rank) {
    data = no_data(model, options.series);
    next = 0;
    if (run_law(system, {grid, theta}, noise, law, observe) == LawStatus::good) return data;
    assert(law.first_rank + 1 < system.ranks().size());
  }
}

std::string to_csv(const Data& data) {
  std::string text = fmt::format("{}t,{}\n", data.series.size() > 1 ? "series," : "", fmt::join(data.columns, ","));
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t row = 0; row < data.series[s].times.size(); ++row) {
      if (data.series.size() > 1) text += data.series[s].name + ",";
      text += number_to_text(data.series[s].times[row]);
      for (std::size_t c = 0; c < data.columns.size(); ++c) {
        const double y = data.value(s, row, c);
        text += "," + (std::isnan(y) ? std::string() : number_to_text(y));
      }
      text += "\n";
    }
  return text;
}
}  // namespace mckean
