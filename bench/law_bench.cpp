// A particle-step of the Kuramoto model: this project's laws against the loop that one would write by hand with the
// standard library; and how the cost grows with N and with the level.
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "harness.hpp"
#include "kuramoto_model.hpp"
#include "law/law.hpp"

namespace {

using namespace mckean;

// Moments form, one thread, libm and std::normal_distribution.
double plain_law(std::size_t particles, std::size_t steps, double dt) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  std::vector<double> x(particles, 1.5), s(particles), c(particles);
  double last = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    double ms = 0, mc = 0;
    for (std::size_t i = 0; i < particles; ++i) {
      s[i] = std::sin(x[i]), c[i] = std::cos(x[i]);
      ms += s[i], mc += c[i];
    }
    ms /= static_cast<double>(particles), mc /= static_cast<double>(particles);
    for (std::size_t i = 0; i < particles; ++i)
      x[i] += (0.4 + s[i] * mc - c[i] * ms) * dt + 0.15 * std::sqrt(dt) * normal(engine);
    last += ms;
  }
  return last;
}
}  // namespace

int main() {
  const Model model = parse_model(bench::kKuramoto, "kuramoto");
  const System system(model);
  const std::vector<double> theta = model.start_values();
  const LawNoise noise{{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}};
  const auto law = [&](std::size_t particles, int level, double horizon, const Kernels& k) {
    const double times[] = {horizon};
    const Grid grid(times, level, 1.0);
    draw_law(system, grid, theta, noise, {.particles = particles}, k);
    return particles * grid.steps();
  };

  const std::size_t N = 512, steps = 20 * 64;
  fmt::print("Kuramoto law, N = {}, {} steps, one thread, ns per particle-step\n", N, steps);
  volatile double sink = 0;
  std::vector<std::function<void()>> pieces{[&] { sink = plain_law(N, steps, 1.0 / 64); }};
  std::vector<Width> widths;
  for (const Width w : {Width::plain, Width::avx2, Width::avx512})
    if (supported(w)) {
      widths.push_back(w);
      pieces.push_back([&, w] { law(N, 6, 20, kernels(w)); });
    }
  const std::vector<double> best = bench::best_of(30, pieces);
  const double unit = 1e9 / static_cast<double>(N * steps);
  fmt::print("  {:32} {:8.2f}\n", "std::normal_distribution + libm", best[0] * unit);
  for (std::size_t i = 0; i < widths.size(); ++i)
    fmt::print("  {:32} {:8.2f}   {:5.1f} times faster\n", kernels(widths[i]).name, best[i + 1] * unit,
               best[0] / best[i + 1]);

  fmt::print("cost against N (level 6) and level (N = 512), ns per particle-step\n");
  struct Row {
    std::size_t particles;
    int level;
    double horizon;
  };
  std::vector<Row> rows;
  for (const std::size_t particles : {64, 512, 4096, 32768, 262144})
    rows.push_back({particles, 6, particles > 10000 ? 1.0 : 20.0});
  for (const int level : {0, 2, 4, 6, 8, 10}) rows.push_back({512, level, 20});
  pieces.clear();
  for (const Row& r : rows) pieces.push_back([&] { law(r.particles, r.level, r.horizon, kernels()); });
  const std::vector<double> times = bench::best_of(8, pieces);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [particles, level, horizon] = rows[i];
    fmt::print("  N = {:<8} level {:<4} {:8.2f}\n", particles, level,
               1e9 * times[i] / (static_cast<double>(particles) * horizon * std::ldexp(1, level)));
  }
}
