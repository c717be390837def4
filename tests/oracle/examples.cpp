#include "examples.hpp"

#include <numbers>
#include <random>

namespace oracle {
namespace {

std::function<double(double, double)> normal_log_density(double variance) {
  const double log_constant = -0.5 * std::log(2 * std::numbers::pi * variance);
  return [=](double x, double y) { return log_constant - (y - x) * (y - x) / (2 * variance); };
}

std::function<double(double, double)> constant(double value) {
  return [=](double, double) { return value; };
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Box and Muller: the same numbers with every standard library.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : bits_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  std::mt19937_64 bits_;
};

}  // namespace

mckean::Data unit_series(const std::vector<double>& values) {
  mckean::Series series;
  for (std::size_t k = 0; k < values.size(); ++k) {
    series.times.push_back(static_cast<double>(k + 1));
    series.lines.push_back(static_cast<int>(k + 2));
  }
  series.values = values;
  return {"example", {"y"}, {series}};
}

mckean::Data ou_data() {
  return unit_series({5.4701810335, 5.8710494893, 7.1747001622, 9.2445521356, 7.5644850011, 8.2549383513, 7.9124112918,
                      7.8311533315, 7.6947007041, 8.0161316071, 6.707119774,  8.3678907788, 7.8233433213, 7.2718520476,
                      6.4796497981, 5.4823324488, 2.9329810812, 5.7802325421, 5.6794143425, 6.3429791756, 6.7890307181,
                      8.1294413405, 7.9998934128, 7.7615825793, 6.4146223334});
}

ScalarModel scalar_ou(const OrnsteinUhlenbeck& ou) {
  return {.drift = [=](double x, std::span<const double> m,
                       double) { return ou.kappa * (ou.mu - x) + ou.beta * (m[0] - x); },
          .sigma = constant(ou.s),
          .psi = {[](double x) { return x; }},
          .xi = {},
          .x0 = ou.x0,
          .sd0 = ou.sd0,
          .log_g = normal_log_density(ou.R)};
}

ScalarModel kuramoto(const Kuramoto& k) {
  return {.drift = [=](double x, std::span<const double> m,
                       double) { return k.theta + k.K * (std::sin(x) * m[0] - std::cos(x) * m[1]); },
          .sigma = constant(k.sigma),
          .psi = {[](double x) { return std::cos(x); }, [](double x) { return std::sin(x); }},
          .xi = {},
          .x0 = k.x0,
          .sd0 = 0,
          .log_g = normal_log_density(k.tau * k.tau)};
}

ScalarModel neural(const Neural& n) {
  return {.drift = [=](double x, std::span<const double> m,
                       double) { return n.alpha * (m[0] - logistic(x)) + n.beta * (n.w * x - n.b); },
          .sigma = constant(n.sigma),
          .psi = {logistic},
          .xi = {},
          .x0 = n.x0,
          .sd0 = 0,
          .log_g = normal_log_density(n.tau * n.tau)};
}

ScalarModel desai_zwanzig(const DesaiZwanzig& d) {
  constexpr double df = 5;
  const double log_constant = std::lgamma((df + 1) / 2) - std::lgamma(df / 2) - std::log(df * std::numbers::pi) / 2;
  return {.drift = [=](double x, std::span<const double> m,
                       double) { return d.a * (x - x * x * x) + d.theta * (m[0] - x); },
          .sigma = constant(d.sigma),
          .psi = {[](double x) { return x; }},
          .xi = {},
          .x0 = 0.5,
          .sd0 = 0.3,
          .log_g =
              [=](double x, double y) {
                const double z = (y - x) / d.tau;
                return log_constant - std::log(d.tau) - (df + 1) / 2 * std::log1p(z * z / df);
              }};
}

mckean::Data simulate(const ScalarModel& model, const Simulation& simulation) {
  const auto T = static_cast<std::size_t>(simulation.T);
  mckean::Data data = unit_series(std::vector<double>(T));
  const Grid grid = make_grid(data, simulation.level);
  const auto moments = law_moments(model, grid);
  const mckean::Series empty = data.series[0];
  data.series.clear();
  Normals normal(simulation.seed);
  for (int s = 0; s < simulation.count; ++s) {
    mckean::Series series = empty;
    series.name = std::to_string(s + 1);
    double x = model.x0 + model.sd0 * normal();
    for (std::size_t k = 0, row = 0; k < grid.dt.size(); ++k) {
      const double t = grid.times[k], dt = grid.dt[k];
      x += model.drift(x, moments[k], t) * dt + model.sigma(x, t) * std::sqrt(dt) * normal();
      if (k + 1 == grid.at[row]) series.values[row++] = x + simulation.tau * normal();
    }
    data.series.push_back(series);
  }
  return data;
}

}  // namespace oracle
