// Averages expanded on cells equal double sums over pairs, tangents included; kernels that are not smooth are refused.
#include "law/cells.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "law/law.hpp"
#include "models.hpp"

namespace mckean {
namespace {

using Points = std::vector<std::vector<double>>;  // by column

Model plane(const std::string& kernel) {
  return parse_model(
      "[state]\nx = { size = 2, start = [\"normal(0, 1)\", \"normal(2, 0.5)\"] }\nv = \"normal(0, 1)\"\n"
      "[parameters]\na = 0.8\nell = 1.4\n[interaction]\nk = \"" +
          kernel +
          "\"\n[drift]\nx = \"-0.3*x + a*k\"\nv = \"-v\"\n[diffusion]\nx = 0.4\nv = 0.3\n"
          "[observation]\ny = \"normal(x, 1)\"\n",
      "plane.toml");
}

Points spread(std::size_t columns, std::size_t n, unsigned seed, double width = 1.5) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.4, width);
  Points out(columns, std::vector<double>((n + kTileSize - 1) / kTileSize * kTileSize));
  for (auto& column : out)
    for (std::size_t i = 0; i < n; ++i) column[i] = normal(random);
  return out;
}

std::vector<const double*> heads(const Points& points) {
  std::vector<const double*> out;
  for (const auto& column : points) out.push_back(column.data());
  return out;
}

std::vector<double*> heads(Points& points) {
  std::vector<double*> out;
  for (auto& column : points) out.push_back(column.data());
  return out;
}

struct Compared {
  bool served;
  double error = 0, size = 0;  // the largest, of averages and their derivatives
};

// A law with these columns x, S, felt by `own` points (its own particles, or others at fixed x).
Compared compare(const Model& model, const Points& law, std::size_t n, const Points& own, std::size_t m, bool belongs,
                 const Kernels& k = kernels()) {
  const Dynamics dynamics(model, 1, true);
  if (!dynamics.cells) return {false};
  Cells cells(dynamics, k);
  cells.set_parameters(model.start_values());
  CellMoments moments;
  Compared out{cells.measure(0.3, heads(law), n, moments)};
  if (!out.served) return out;
  const std::size_t means = dynamics.field.pairwise.size() * (1 + dynamics.dynamic.size());
  Points expanded(means, std::vector<double>((m + 255) / 256 * 256)), exact = expanded;
  const auto at = heads(own);
  const std::span<const double* const> x(at.data(), belongs ? at.size() : dynamics.dimension);
  out.served = cells.read(moments, 0.3, x, heads(expanded), m, belongs);
  Frame pair(belongs ? *dynamics.pair : *dynamics.read_pair, k);
  pair.set_fixed(model.start_values());
  const auto others = heads(law);
  for (std::size_t first = 0; first < m; first += kBlock) {
    std::vector<const double*> in;
    std::vector<double*> to;
    for (const double* c : x) in.push_back(c + first);
    for (auto& c : exact) to.push_back(c.data() + first);
    pairwise_means(pair, 0.3, {others, n}, in, to, std::min(kBlock, m - first), k);
  }
  for (std::size_t p = 0; p < means; ++p)
    for (std::size_t i = 0; i < m; ++i) {
      out.size = std::max(out.size, std::abs(exact[p][i]));
      out.error = std::max(out.error, std::abs(expanded[p][i] - exact[p][i]));
    }
  return out;
}

Compared compare(const Model& model, std::size_t n, double width = 1.5) {
  const std::size_t columns = model.dimension() * (1 + Dynamics(model, 1, true).dynamic.size());
  const Points law = spread(columns, n, 3, width);
  return compare(model, law, n, law, n, true);
}

const char* const kSmooth[] = {
    "(x' - x)*exp(-(sum((x - x')^2))/(2*ell^2))",                                  // swarming: Gaussian
    "(x' - x)*(exp(-sqrt(sum((x - x')^2) + ell^2)) - 0.3/(1 + sum((x - x')^2)))",  // two lengths
    "(v' - v)/sqrt(ell^2 + sum((x - x')^2)) + v'*x'",  // flocking, and a term that separates
    "cos(x[1]*x'[2] + ell*x'[1])/(2 + x[2]^2)"};       // not of x − x'

TEST(Cells, AveragesAndTangentsAreThoseOfPairs) {
  for (const char* kernel : kSmooth) {
    const Compared c = compare(plane(kernel), 101, 0.8);
    EXPECT_TRUE(c.served) << kernel;
    EXPECT_LE(c.error, 1e-4 * c.size) << kernel;
    EXPECT_GT(c.size, 0.01);
  }
  const Compared flock = compare(tests::shipped("cucker-smale"), 133, 1.2);
  EXPECT_TRUE(flock.served);
  EXPECT_LE(flock.error, 1e-4 * flock.size);
}

TEST(Cells, ReadersFeelTheLawAtFixedPointsElsewhereToo) {
  const Model model = plane(kSmooth[2]);
  const Points law = spread(model.dimension() * 3, 77, 5, 0.5), own = spread(model.dimension(), 45, 6, 4);
  const Compared c = compare(model, law, 77, own, 45, false);
  EXPECT_TRUE(c.served);
  EXPECT_LE(c.error, 1e-4 * c.size);
}

TEST(Cells, NeedNoWidth) {
  const Model model = plane(kSmooth[0]);
  Points law = spread(model.dimension() * 3, 77, 5);
  std::ranges::fill(law[1], 2.5);  // on a line
  EXPECT_LE(compare(model, law, 77, law, 77, true).error, 1e-4);
  std::ranges::fill(law[0], -1e3);  // at one point
  const Compared c = compare(model, law, 77, law, 77, true);
  EXPECT_TRUE(c.served);
  EXPECT_LE(c.error, 1e-4 * std::max(1.0, c.size));
  EXPECT_LE(compare(model, law, 1, law, 1, true).error, 1e-4);
}

TEST(Cells, KernelsThatAreNotSmoothAreRefused) {
  for (const char* kernel :
       {"(x' - x)*exp(-sqrt(sum((x - x')^2)))", "(v' - v)*relu(1 - sum((x - x')^2))", "(x' - x)/sum((x - x')^2)"})
    EXPECT_FALSE(compare(plane(kernel), 101, 0.8).served) << kernel;
}

TEST(Cells, AreOneRankBeforePairs) {
  const Model smooth = plane(kSmooth[0]), time = plane("t*x'*exp(-sum((x - x')^2))"),
              three = plane("exp(-sum((x - x')^2) - (v - v')^2)*sin(x[1]*v'*x'[2])");
  EXPECT_EQ(System(smooth).ranks(), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(System(time).ranks(), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(System(three).ranks(), (std::vector<std::size_t>{0}));
}

// The same particles, by cells and by pairs, after some steps; and the same bits by either fused width.
TEST(Cells, LawsAreThoseOfPairs) {
  const Model model = tests::shipped("cucker-smale");
  const System system(model);
  const double times[] = {1};
  const Grid grid(times, 3, 1.0);
  const LawNoise noise{{5, 0, 0, Purpose::law_start}, {5, 0, 0, Purpose::law}};
  const auto last = [&](std::size_t rank, const Kernels& k) {
    LawOptions options{.particles = 151, .derivative = Derivative::tangent, .first_rank = rank};
    options.cells = CellChoice::always;
    std::vector<double> out;
    EXPECT_EQ(run_law(
                  system, {grid, model.start_values()}, noise, options,
                  [&](std::size_t, const Cloud& cloud) {
                    out.clear();
                    for (std::size_t c = 0; c < 8; ++c) out.insert(out.end(), cloud.state()[c], cloud.state()[c] + 151);
                  },
                  k),
              LawStatus::good);
    return out;
  };
  const std::vector<double> cells = last(0, kernels()), pairs = last(1, kernels());
  ASSERT_EQ(cells.size(), pairs.size());
  for (std::size_t i = 0; i < cells.size(); ++i) ASSERT_NEAR(cells[i], pairs[i], 1e-4) << i;
  if (!supported(Width::avx512)) return;
  EXPECT_EQ(last(0, kernels(Width::avx2)), last(0, kernels(Width::avx512)));
}
}  // namespace
}  // namespace mckean
