#include "report/figure_system.hpp"

#include <cmath>

namespace mckean {

SystemRun read_system_run(FigureSettings& s, std::uint64_t seed) {
  SystemRun run{s.number("until"), s.number("step"), 1, seed};
  const double record = s.number("record");
  if (!(run.step > 0)) s.fail("step", "'step' must be positive");
  if (!(run.until >= run.step)) s.fail("until", "'until' must be at least one step");
  if (!(record >= run.step)) s.fail("record", "'record' must be at least one step");
  run.every = static_cast<std::size_t>(std::round(record / run.step));
  return run;
}

void simulate_system(const Model& model, std::size_t particles, const SystemRun& run, const PathObserver& observe) {
  // One Euler step from each time to the next: the step need not be a power of two.
  const auto steps = static_cast<std::size_t>(std::round(run.until / run.step));
  std::vector<double> times;
  for (std::size_t k = 1; k <= steps; ++k) times.push_back(static_cast<double>(k) * run.step);
  std::size_t at = 0;
  simulate(model, model.start_values(), times,
           {.level = 0, .law_particles = particles, .series = 1, .seed = run.seed, .unit = run.step},
           [&](double t, std::span<const double* const> columns) {
             if (at++ % run.every == 0) observe(t, columns);
           });
}
}  // namespace mckean
