#include "quadrature.hpp"

#include <limits>

#include "density.hpp"

namespace oracle {
namespace {

using Eigen::VectorXd;

// The drift of `model` in the environment of a law.
class Drift {
 public:
  Drift(const ScalarModel& model, const Density& law)
      : model_(model), law_(law), total_(law.total()), m_(model.psi.size() + model.xi.size()) {
    for (std::size_t r = 0; r < model.psi.size(); ++r) m_[r] = average(model.psi[r]);
  }

  double operator()(double x, double t) {
    for (std::size_t r = 0; r < model_.xi.size(); ++r) {
      m_[model_.psi.size() + r] = average([&](double other) { return model_.xi[r](x, other); });
    }
    return model_.drift(x, m_, t);
  }

  std::vector<double> moments() const {
    return {m_.begin(), m_.begin() + static_cast<std::ptrdiff_t>(model_.psi.size())};
  }

 private:
  template <class F>
  double average(const F& f) const {
    double sum = 0;
    for (std::size_t i = 0; i < law_.mass.size(); ++i) sum += law_.mass[i] * f(law_.x(i));
    return sum / total_;
  }

  const ScalarModel& model_;
  const Density& law_;
  double total_;
  std::vector<double> m_;
};

struct Step {
  double t, dt;
  double next_dt;             // of the step after this one; 0 if there is none
  const double* y = nullptr;  // what is observed at its end, if anything is
};

// The largest inverse variance of the Gaussian factors that will multiply a density on [lo, hi] before it
// is summed: the kernel of the next step as a function of where it starts, and the observation.
double sharpness(const ScalarModel& model, Drift& drift, const Step& step, double lo, double hi, double sd) {
  constexpr int samples = 32;
  const double h = 0.1 * sd;
  const double t = step.t + step.dt;
  double kernel = 0, observation = 0;
  for (int i = 0; i <= samples; ++i) {
    const double x = lo + (hi - lo) * i / samples;
    if (step.next_dt > 0) {
      const double slope = 1 + (drift(x + h, t) - drift(x - h, t)) / (2 * h) * step.next_dt;
      kernel = std::max(kernel, std::pow(slope / model.sigma(x, t), 2) / step.next_dt);
    }
    if (step.y != nullptr) {
      const auto g = [&](double at) { return model.log_g(at, *step.y); };
      observation = std::max(observation, -(g(x + h) - 2 * g(x) + g(x - h)) / (h * h));
    }
  }
  return kernel + observation;
}

// The rectangle rule on a Gaussian of inverse variance v errs by exp(-2 pi^2 / (v step^2)): here 7e-18.
double grid_step(double inverse_variance, Accuracy accuracy) {
  return 1 / (accuracy.resolution * std::sqrt(2 * inverse_variance));
}

Density start(const ScalarModel& model, Accuracy accuracy, Step step) {
  if (model.sd0 == 0) return {model.x0, 1, {1.0}};
  const double reach = accuracy.cut * model.sd0;
  const double lo = model.x0 - reach, hi = model.x0 + reach;
  const Density point{model.x0, 1, {1.0}};
  Drift drift(model, point);
  const double sharp = sharpness(model, drift, step, lo, hi, model.sd0);
  Density density = empty_density(lo, hi, grid_step(1 / (model.sd0 * model.sd0) + sharp, accuracy));
  deposit(density, 1, model.x0, model.sd0, accuracy.cut);
  return density;
}

// x' = x + a(x) dt + sigma(x) sqrt(dt) N(0, 1).
Density move(const Density& from, const ScalarModel& model, Drift& drift, Step step, Accuracy accuracy) {
  const std::size_t n = from.mass.size();
  std::vector<double> mean(n), sd(n);
  double lo = std::numeric_limits<double>::infinity(), hi = -lo, least = lo;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = from.x(i);
    mean[i] = x + drift(x, step.t) * step.dt;
    sd[i] = model.sigma(x, step.t) * std::sqrt(step.dt);
    if (!std::isfinite(mean[i]) || !(sd[i] > 0)) throw std::range_error("the Euler step is not a Gaussian");
    lo = std::min(lo, mean[i] - accuracy.cut * sd[i]);
    hi = std::max(hi, mean[i] + accuracy.cut * sd[i]);
    least = std::min(least, sd[i]);
  }
  const double sharp = sharpness(model, drift, step, lo, hi, least);
  Density to = empty_density(lo, hi, grid_step(1 / (least * least) + sharp, accuracy));
  for (std::size_t i = 0; i < n; ++i) deposit(to, from.mass[i], mean[i], sd[i], accuracy.cut);
  trim(to, accuracy.cut);
  return to;
}

// Multiplies by G(., y), normalises, and returns log p(y | the past).
double weigh(Density& density, const ScalarModel& model, double y, double cut) {
  std::vector<double> log_g(density.mass.size());
  for (std::size_t i = 0; i < log_g.size(); ++i) log_g[i] = model.log_g(density.x(i), y);
  const double most = *std::max_element(log_g.begin(), log_g.end());
  if (std::isinf(most)) return most;
  for (std::size_t i = 0; i < log_g.size(); ++i) density.mass[i] *= std::exp(log_g[i] - most);
  const double total = density.total();
  for (double& w : density.mass) w /= total;
  trim(density, cut);
  return most + std::log(total);
}

// The value of (series s, column j) at grid point k, or nullptr.
const double* observation(const mckean::Data& data, const Grid& grid, std::size_t s, std::size_t j, std::size_t k) {
  const std::ptrdiff_t row = grid.rows[s][k];
  if (row == Grid::none) return nullptr;
  const double* y = &data.series[s].values[static_cast<std::size_t>(row) * data.columns.size() + j];
  return std::isnan(*y) ? nullptr : y;
}

Step step_at(const Grid& grid, std::size_t k) {
  return {grid.times[k], grid.dt[k], k + 1 < grid.dt.size() ? grid.dt[k + 1] : 0.0};
}

Step before(const Grid& grid) { return {0, 0, grid.dt.empty() ? 0.0 : grid.dt[0]}; }

// One column of one series, with its filter.
struct Path {
  std::size_t s, j;
  Density filter;
};

Function likelihood_of(const ScalarFamily& family, const mckean::Data& data, int level) {
  return [&family, &data, level](const VectorXd& theta) { return log_likelihood(family(theta), data, level); };
}

}  // namespace

double log_likelihood(const ScalarModel& model, const ScalarModel& law, const mckean::Data& data, int level,
                      Accuracy accuracy) {
  const Grid grid = make_grid(data, level);
  std::vector<Path> paths;
  double sum = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    for (std::size_t j = 0; j < data.columns.size(); ++j) {
      Step step = before(grid);
      step.y = observation(data, grid, s, j, 0);
      paths.push_back({s, j, start(model, accuracy, step)});
      if (step.y != nullptr) sum += weigh(paths.back().filter, model, *step.y, accuracy.cut);
    }
  }
  Density mu = start(law, accuracy, before(grid));
  for (std::size_t k = 0; k < grid.dt.size(); ++k) {
    Step step = step_at(grid, k);
    Drift drift(model, mu);
    for (auto& [s, j, filter] : paths) {
      step.y = observation(data, grid, s, j, k + 1);
      filter = move(filter, model, drift, step, accuracy);
      if (step.y != nullptr) sum += weigh(filter, model, *step.y, accuracy.cut);
    }
    Drift law_drift = &law == &model ? drift : Drift(law, mu);
    mu = move(mu, law, law_drift, step_at(grid, k), accuracy);
  }
  return sum;
}

double log_likelihood(const ScalarModel& model, const mckean::Data& data, int level, Accuracy accuracy) {
  return log_likelihood(model, model, data, level, accuracy);
}

double log_likelihood(std::span<const ScalarModel> components, const mckean::Data& data, int level, Accuracy accuracy) {
  const Grid grid = make_grid(data, level);
  std::vector<double> m;  // of all laws, at the beginning of a step
  std::vector<ScalarModel> given(components.begin(), components.end());
  std::vector<Density> laws;
  std::vector<Path> paths;
  double sum = 0;
  for (std::size_t j = 0; j < given.size(); ++j) {
    given[j].psi.clear();
    given[j].drift = [&m, &component = components[j]](double x, std::span<const double>, double t) {
      return component.drift(x, m, t);
    };
  }
  const auto measure = [&] {
    m.clear();
    for (std::size_t j = 0; j < laws.size(); ++j)
      for (const double moment : Drift(components[j], laws[j]).moments()) m.push_back(moment);
  };
  // The grid of the start is as fine as the first step needs, whose drift reads moments: those of points.
  for (const auto& c : components) laws.push_back({c.x0, 1, {1.0}});
  measure();
  for (std::size_t j = 0; j < given.size(); ++j) {
    laws[j] = start(given[j], accuracy, before(grid));
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      Step step = before(grid);
      step.y = observation(data, grid, s, j, 0);
      paths.push_back({s, j, start(given[j], accuracy, step)});
      if (step.y != nullptr) sum += weigh(paths.back().filter, given[j], *step.y, accuracy.cut);
    }
  }
  for (std::size_t k = 0; k < grid.dt.size(); ++k) {
    measure();
    for (auto& [s, j, filter] : paths) {
      Step step = step_at(grid, k);
      step.y = observation(data, grid, s, j, k + 1);
      Drift drift(given[j], laws[j]);
      filter = move(filter, given[j], drift, step, accuracy);
      if (step.y != nullptr) sum += weigh(filter, given[j], *step.y, accuracy.cut);
    }
    for (std::size_t j = 0; j < laws.size(); ++j) {
      Drift drift(given[j], laws[j]);
      laws[j] = move(laws[j], given[j], drift, step_at(grid, k), accuracy);
    }
  }
  return sum;
}

std::vector<std::vector<double>> law_moments(const ScalarModel& model, const Grid& grid, Accuracy accuracy) {
  Density mu = start(model, accuracy, before(grid));
  std::vector<std::vector<double>> moments = {Drift(model, mu).moments()};
  for (std::size_t k = 0; k < grid.dt.size(); ++k) {
    Drift drift(model, mu);
    mu = move(mu, model, drift, step_at(grid, k), accuracy);
    moments.push_back(Drift(model, mu).moments());
  }
  return moments;
}

VectorXd score(const ScalarFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  return gradient(likelihood_of(family, data, level), theta);
}

VectorXd frozen_score(const ScalarFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  const ScalarModel law = family(theta);
  const Function f = [&](const VectorXd& t) { return log_likelihood(family(t), law, data, level); };
  return gradient(f, theta);
}

Maximum mle(const ScalarFamily& family, const VectorXd& theta, const mckean::Data& data, int level) {
  const Function likelihood = likelihood_of(family, data, level);
  const Function f = [&](const VectorXd& t) {
    try {
      return likelihood(t);
    } catch (const std::range_error&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  return maximise(f, theta);
}

}  // namespace oracle
