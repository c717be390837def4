// The same bits for any number of threads, any order of replicates, and both fused widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/particles/ahead_limits.hpp"
#include "mckean/engine.hpp"
#include "mckean/simulate.hpp"
#include "mckean/smooth.hpp"
#include "models.hpp"
#include "paper/multilevel.hpp"
#include "run/parallel.hpp"

namespace {

using namespace mckean;

Data small_data(const Model& model, std::size_t series = 1) {
  const std::vector<double> times{1, 2, 3.5, 4, 5};
  return simulate(model, model.start_values(), times, {.level = 3, .law_particles = 50, .series = series});
}

TEST(Bits, LikelihoodForAnyNumberOfThreads) {
  for (const char* name : tests::kShipped)
    for (const bool ahead : {false, true}) {
      const Model model = tests::shipped(name);
      const Data data = small_data(model, 2);
      const auto engine = make_engine("particles", {model, data});
      const Request request{.effort = {.level = 2, .particles = 100, .law_particles = 40, .ahead = ahead}};
      if (ahead && refuses_ahead(model)) continue;
      const auto run = [&](std::size_t threads) {
        std::vector<double> logs(6);
        parallel_for(logs.size(), threads, [&](std::size_t r) {
          logs[r] = engine->at(model.start_values(), Order::value, {1, static_cast<std::uint32_t>(r)}, request)->loglik;
        });
        return logs;
      };
      const auto one = run(1);
      EXPECT_EQ(one, run(2)) << name;
      EXPECT_EQ(one, run(5)) << name;
      EXPECT_NE(one[0], one[1]) << name;
    }
}

TEST(Bits, ReplicatesForAnyOrderAndThreads) {
  for (const char* name : {"kuramoto", "cucker-smale", "fitzhugh-nagumo"}) {
    const Model model = tests::shipped(name);
    const Data data = small_data(model, 2);
    const ParticleProblem problem({model, data}, 2, 1);
    EstimatorOptions o;
    o.lowest = 1, o.highest = 2, o.most_p = 2;
    o.particles = Rule("8", "M"), o.law_particles = Rule("16*l", "N");
    o.chain.start = model.start_values();
    o.chain.step.gamma = 1e-4;
    const MultilevelEstimator estimator(problem, o);
    std::vector<Replicate> forward(12), mixed(12);
    parallel_for(12, 1, [&](std::size_t r) { forward[r] = estimator(static_cast<std::uint32_t>(r)); });
    parallel_for(12, 4, [&](std::size_t i) {
      const std::size_t r = (i * 5 + 7) % 12;
      mixed[r] = estimator(static_cast<std::uint32_t>(r));
    });
    for (std::size_t r = 0; r < 12; ++r) {
      EXPECT_EQ(forward[r].estimate, mixed[r].estimate) << name;
      EXPECT_EQ(forward[r].particle_steps, mixed[r].particle_steps);
    }
  }
}

TEST(Bits, ConditionalFilterWithBothFusedWidths) {
  if (!supported(Width::avx512)) GTEST_SKIP() << "this processor has one of the two widths only";
  for (const char* name : tests::kShipped) {
    const Model model = tests::shipped(name);
    const Data data = small_data(model);
    const System system(model);
    const Observation observation(model);
    const Schedule schedule(data, 2, 0);
    const auto run = [&](Width width) {
      const LawNoise noise{{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}};
      const LawPath law =
          draw_law(system, schedule.grid, model.start_values(), noise, {.particles = 50}, kernels(width));
      ConditionalFilter filter(system, observation, schedule, {.particles = 33}, kernels(width));
      filter.set_law(law, model.start_values());
      Path path = filter.first_path(0, {1, 0, 0}).value();
      for (std::uint32_t n = 1; n < 4; ++n) path = filter.step(0, path, {1, 0, n}).value();
      std::vector<double> out;
      for (std::size_t c = 0; c < path.count(); ++c)
        out.insert(out.end(), path[c], path[c] + schedule.grid.steps() + 1);
      return out;
    };
    EXPECT_EQ(run(Width::avx2), run(Width::avx512)) << name;
  }
}

// The replayed path is the path that the particles took: with one free particle it descends from itself alone.
TEST(Bits, ReplayedPathPassesThroughItsEndpoints) {
  const Model model = tests::shipped("kuramoto");
  const Data data = small_data(model);
  const System system(model);
  const Observation observation(model);
  const Schedule schedule(data, 4, 0);
  const LawPath law = draw_law(system, schedule.grid, model.start_values(),
                               {{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}}, {.particles = 50});
  ConditionalFilter filter(system, observation, schedule, {.particles = 2, .smoother = Smoother::genealogy});
  filter.set_law(law, model.start_values());
  const Path reference = filter.first_path(0, {1, 0, 0}).value();
  for (std::uint32_t n = 1; n < 40; ++n) {
    // Every step of a path is an Euler step: its standardised increments are moderate, also across stops.
    const Path path = filter.step(0, reference, {1, 0, n}).value();
    for (std::size_t k = 0; k < schedule.grid.steps(); ++k) {
      const double x = path[0][k], a = 0.4 + std::sin(x) * law.inputs[0][k] - std::cos(x) * law.inputs[1][k];
      const StepTime& step = schedule.grid.step[k];
      const double z = (path[0][k + 1] - x - a * step.flow) / (0.15 * step.root());
      EXPECT_LT(std::abs(z), 6.0) << n << " " << k;
    }
  }
}
}  // namespace
