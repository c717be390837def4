// A model is frozen once it is built: what is derived from it is derived in copies, in any order and on any threads,
// with the same numbering and so the same bits.
#include <gtest/gtest.h>

#include <thread>

#include "engine/prediction.hpp"
#include "engine/quadrature/formulas.hpp"
#include "law/law.hpp"
#include "models.hpp"

namespace mckean {
namespace {

Model kuramoto() { return tests::shipped("kuramoto"); }

TEST(FrozenTest, NoNodeIsAddedToAModel) {
  const Model model = kuramoto();
  const std::size_t before = model.graph().size();
  EXPECT_THROW(model.graph().number(0.123456), std::logic_error);
  EXPECT_THROW(tan(model.components()[0].drift), std::logic_error);
  const System system(model);
  system.dynamics(Scheme::euler, system.ranks()[0], true);
  const Formulas formulas(model, true, Scheme::splitting);
  const Prediction prediction(model);
  EXPECT_EQ(model.graph().size(), before);
}

TEST(FrozenTest, CopiesHaveTheSameNumbersAndGrowByThemselves) {
  const Model model = kuramoto(), a = model.copy(), b = model.copy();
  EXPECT_EQ(a.components()[0].drift.id(), model.components()[0].drift.id());
  EXPECT_EQ(to_text(a.components()[0].drift), to_text(model.components()[0].drift));
  EXPECT_EQ(&a.components()[0].drift.graph(), &a.graph());
  EXPECT_EQ(&a.observed()[0].log_density.graph(), &a.graph());
  EXPECT_EQ(&a.interactions()[0].kernel.graph(), &a.graph());
  a.graph().number(0.123456);
  EXPECT_EQ(a.graph().size(), b.graph().size() + 1);
  EXPECT_THROW(a.components()[0].drift + b.components()[0].drift, std::logic_error);
}

// The inputs of a law, by a system of its own.
std::vector<double> inputs(const Model& model) {
  const System system(model);
  const Grid grid(std::vector<double>{1, 2, 3}, 3, 1.0);
  const LawPath law = draw_law(system, grid, model.start_values(),
                               {{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}}, {.particles = 64});
  std::vector<double> out;
  for (std::size_t p = 0; p < grid.time.size(); ++p) law.append_inputs(p, out);
  return out;
}

TEST(FrozenTest, TheSameBitsInAnyOrderOfCompilingAndOnAnyThreads) {
  const Model model = kuramoto();
  const auto alone = inputs(model);
  const Formulas before(model, true, Scheme::splitting);
  EXPECT_EQ(inputs(model), alone);
  std::vector<std::vector<double>> found(8);
  {
    std::vector<std::jthread> threads;
    for (auto& result : found)
      threads.emplace_back([&] {
        const Formulas formulas(model, true, Scheme::splitting);
        result = inputs(model);
      });
  }
  for (const auto& result : found) EXPECT_EQ(result, alone);
}
}  // namespace
}  // namespace mckean
