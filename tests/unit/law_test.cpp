// Laws: tangents against central differences of the same particle system, finite differences, coupling, repeatability.
#include "law/law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mckean/error.hpp"
#include "models.hpp"

namespace {

using namespace mckean;

const LawNoise kNoise{{5, 0, 0, Purpose::law_start}, {5, 0, 0, Purpose::law}};

Grid grid_to(double horizon, int level) {
  const double times[] = {horizon};
  return Grid(times, level, 1.0);
}

// One number for each point, quantity and parameter that a law reports: inputs, and positions where there are any.
std::vector<double> numbers(const LawPath& law) {
  std::vector<double> out;
  const std::size_t d = law.position_columns ? law.dynamics->dimension : 0;
  for (std::size_t k = 0; k < law.points; ++k) {
    for (std::size_t i = 0; i < law.inputs.count(); ++i) out.push_back(law.inputs[i][k]);
    for (std::size_t c = 0; c < d; ++c) out.insert(out.end(), law.position(k, c), law.position(k, c) + law.particles);
  }
  return out;
}

std::vector<double> tangents(const LawPath& law, std::size_t p) {
  std::vector<double> out;
  const std::size_t n = law.inputs.count(), d = law.position_columns ? law.dynamics->dimension : 0;
  for (std::size_t k = 0; k < law.points; ++k) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(law.tangents[p * n + i][k]);
    for (std::size_t c = 0; c < d; ++c) {
      const double* s = law.position(k, d * (1 + p) + c);
      out.insert(out.end(), s, s + law.particles);
    }
  }
  return out;
}

// Largest |tangent − central difference| relative to the largest tangent of each parameter (a difference of order h²
// with h = 1e-4 and Richardson's extrapolation has an error near 1e-11).
void expect_tangents(const Model& model, const Grid& grid, double tolerance) {
  const System system(model);
  const std::vector<double> theta = model.start_values();
  LawOptions options{.particles = 40, .derivative = Derivative::tangent, .precision = NormalPrecision::full};
  const LawPath law = draw_law(system, grid, theta, kNoise, options);
  options.derivative = Derivative::none;
  for (std::size_t p = 0; p < law.dynamics->dynamic.size(); ++p) {
    const std::size_t j = law.dynamics->dynamic[p];
    const auto at = [&](double step) {
      std::vector<double> moved = theta;
      moved[j] += step;
      return numbers(draw_law(system, grid, moved, kNoise, options));
    };
    const double h = 1e-4;
    const auto a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h), exact = tangents(law, p), values = numbers(law);
    double size = 0, error = 0, level = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      size = std::max(size, std::abs(exact[i]));
      level = std::max(level, std::abs(values[i]));
      error = std::max(error, std::abs(exact[i] - (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h)));
    }
    // Where a tangent vanishes altogether only rounding is left, of the size of the value times 1e-16 / h.
    EXPECT_LE(error, tolerance * std::max(size, 1e-5 * level)) << model.name() << " " << model.parameters()[j].name;
  }
}

TEST(LawTangents, OfASplittingAgreeWithDifferences) {
  const double times[] = {0.7, 2.5};
  for (const char* name : tests::kShipped)
    expect_tangents(tests::shipped(name), Grid(times, 1, 1.0, Scheme::splitting), 1e-6);
}

// Particles without spread follow the classical Runge-Kutta method for x' = a(t, x, law at x), averages at the stages.
TEST(SplittingLaw, AveragesAreTakenAtTheStages) {
  struct Case {
    std::string kernel;
    double (*mean)(double);
  };
  const Case cases[] = {{"x'^2", [](double x) { return x * x; }},  // by moments, and expanded
                        {"exp(-x*x')", [](double x) { return std::exp(-x * x); }}};
  for (const Case& c : cases) {
    const Model model = parse_model(
        "[state]\nx = 0.6\n[parameters]\nb = 1.3\n[interaction]\nk = \"" + c.kernel +
            "\"\n[drift]\nx = \"sin(t) - x + b*k\"\n[diffusion]\nx = 1e-10\n[observation]\ny = \"normal(x, 1)\"\n",
        "stages.toml");
    const double times[] = {1, 2};
    const Grid grid(times, 1, 1.0, Scheme::splitting);
    const auto drift = [&](double t, double x) { return std::sin(t) - x + 1.3 * c.mean(x); };
    std::vector<double> expected{0.6};
    for (const StepTime& s : grid.step) {
      const double x = expected.back(), h = s.flow, k1 = drift(s.t, x), k2 = drift(s.t + h / 2, x + h / 2 * k1),
                   k3 = drift(s.t + h / 2, x + h / 2 * k2), k4 = drift(s.t + h, x + h * k3);
      expected.push_back(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4));
    }
    const System system(model);
    const LawStatus status =
        run_law(system, {grid, model.start_values()}, kNoise, {.particles = 8}, [&](std::size_t k, const Cloud& cloud) {
          EXPECT_NEAR(cloud.state()[0][3], expected[k], 1e-8) << c.kernel << " " << k;
        });
    EXPECT_EQ(status, LawStatus::good);
  }
}

TEST(LawTangents, AgreeWithDifferencesForEveryShippedModel) {
  for (const char* name : tests::kShipped) expect_tangents(tests::shipped(name), grid_to(3, 4), 1e-6);
}

TEST(LawTangents, StateDependentDiffusionAndTime) {
  const Model model = parse_model(R"toml(
[state]
x = "normal(1, 0.2)"
v = 0.5
[parameters]
a = 0.7
b = 0.3
[interaction]
m = "sin(a*x')*v' + x'^2*cos(t)"
[drift]
x = "a*sin(t) - x + b*m*v"
v = "b - v + a*m"
[diffusion]
x = ["0.3*sqrt(1 + x^2)", "0.1*t*v"]
v = ["0.1", "0.2 + 0.05*sin(v)"]
[observation]
y = "normal(x, 1)"
)toml",
                                  "general.toml");
  expect_tangents(model, grid_to(2, 4), 1e-6);
}

TEST(LawTangents, ExpandedAndPairwiseKernels) {
  expect_tangents(tests::with_kernel("(x' - x)*exp(-abs(x - x')/ell)"), grid_to(2, 3), 1e-6);
  // Expansions: windows may differ between the shifted runs, so the particles are compared through the pairwise twin.
  const Model model = tests::with_kernel("(x' - x)*exp(-((x - x')/ell)^2/2)");
  const System system(model);
  const Grid grid = grid_to(2, 3);
  const std::vector<double> theta = model.start_values();
  LawOptions options{.particles = 40, .derivative = Derivative::tangent};
  const LawPath expanded = draw_law(system, grid, theta, kNoise, options);
  options.first_rank = system.ranks().size() - 1;
  const LawPath pairwise = draw_law(system, grid, theta, kNoise, options);
  ASSERT_FALSE(expanded.dynamics->field.windows.empty());
  ASSERT_FALSE(pairwise.dynamics->field.pairwise.empty());
  const MeanField& field = expanded.dynamics->field;
  const Window& w = field.windows[0];
  for (std::size_t k = 0; k < grid.steps(); k += 3)
    for (const double x : {-0.2, 0.3, 0.9}) {
      // ξ̄(x) and its derivative by each parameter, once from the coefficients, once from all particles.
      const double u = (x - expanded.inputs[w.center_input][k]) * expanded.inputs[w.center_input + 1][k];
      if (std::abs(u) > 1) continue;
      std::vector<double> sums(1 + 2);
      double before = 1, t = u;
      for (std::size_t p = 0; p < field.rank; ++p) {
        const double T = p == 0 ? 1 : p == 1 ? u : 2 * u * t - before;
        if (p > 1) before = t, t = T;
        const std::size_t i = field.expansions[0].first_input + p;
        sums[0] += T * expanded.inputs[i][k];
        for (std::size_t q = 0; q < 2; ++q) sums[1 + q] += T * expanded.tangents[q * expanded.inputs.count() + i][k];
      }
      std::vector<double> exact(1 + 2);
      const double ell = theta[1], N = 40;
      for (std::size_t i = 0; i < 40; ++i) {
        const double o = pairwise.position(k, 0)[i], z = (x - o) / ell, e = std::exp(-z * z / 2);
        exact[0] += (o - x) * e / N;
        for (std::size_t q = 0; q < 2; ++q) {
          const double S = pairwise.position(k, 1 + q)[i];
          exact[1 + q] += (e * (1 - z * z) * S + (q == 1 ? (o - x) * e * z * z / ell : 0)) / N;
        }
      }
      EXPECT_NEAR(sums[0], exact[0], 1e-9) << k << " " << x;
      EXPECT_NEAR(sums[1], exact[1], 1e-7) << k << " " << x;
      EXPECT_NEAR(sums[2], exact[2], 1e-7) << k << " " << x;
    }
}

TEST(LawFiniteDifference, TendsToTheTangentAsTheLevelGrows) {
  for (const char* name : {"kuramoto", "mean-field-ou", "cucker-smale"}) {
    const Model model = tests::shipped(name);
    const System system(model);
    double last = 0;
    for (const int level : {2, 5, 8}) {
      const Grid grid = grid_to(1, level);
      LawOptions options{.particles = 20, .derivative = Derivative::tangent};
      const LawPath tangent = draw_law(system, grid, model.start_values(), kNoise, options);
      options.derivative = Derivative::finite_difference;
      const LawPath difference = draw_law(system, grid, model.start_values(), kNoise, options);
      double error = 0, size = 0;
      for (std::size_t p = 0; p < tangent.dynamics->dynamic.size(); ++p) {
        const auto a = tangents(tangent, p), b = tangents(difference, p);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
          error = std::max(error, std::abs(a[i] - b[i])), size = std::max(size, std::abs(a[i]));
      }
      EXPECT_LT(error, 2 * std::ldexp(size, -level)) << name << level;  // one-sided with step Δ_l: first order
      EXPECT_LT(error, level > 2 ? 0.3 * last + 1e-9 : size) << name << level;
      last = error;
    }
  }
}

TEST(CoupledLaws, FineMarginIsTheUncoupledLawAndCoarseOneUsesItsIncrements) {
  for (const char* name : {"kuramoto", "fitzhugh-nagumo", "cucker-smale"}) {
    const Model model = tests::shipped(name);
    const System system(model);
    const Grid fine = grid_to(2, 5), coarse = grid_to(2, 4);
    const std::vector<double> theta = model.start_values();
    const LawOptions options{.particles = 70, .derivative = Derivative::tangent};
    const auto [upper, lower] = draw_coupled_laws(system, {fine, theta}, {coarse, theta}, kNoise, options, 33);
    EXPECT_EQ(numbers(upper), numbers(draw_law(system, fine, theta, kNoise, options))) << name;
    EXPECT_EQ(lower.points, coarse.steps() + 1);
    EXPECT_EQ(lower.particles, 33u);
  }
  // dX = dW: the coarse path is the fine one at every second point.
  const Model walk = parse_model(
      "[state]\nx = 0\n[interaction]\nm = \"abs(x - x')\"\n[drift]\nx = \"0*m + 0*abs(x)\"\n[diffusion]\nx = "
      "1\n[observation]\ny = "
      "\"normal(x, 1)\"\n",
      "walk.toml");
  const System system(walk);
  const Grid fine = grid_to(1, 4), coarse = grid_to(1, 3);
  const auto [upper, lower] = draw_coupled_laws(system, {fine, {}}, {coarse, {}}, kNoise, {.particles = 100}, 45);
  ASSERT_GT(upper.position_columns, 0u);
  for (std::size_t k = 0; k < lower.points; ++k)
    for (std::size_t i = 0; i < 45; ++i) EXPECT_NEAR(lower.position(k, 0)[i], upper.position(2 * k, 0)[i], 1e-14);
}

TEST(Laws, SameBitsWithBothFusedWidths) {
  if (!supported(Width::avx512)) GTEST_SKIP() << "this processor has one of the two widths only";
  for (const char* name : tests::kShipped) {
    const Model model = tests::shipped(name);
    const System system(model);
    for (const std::size_t particles : {1ul, 31ul, 129ul}) {
      const LawOptions options{.particles = particles, .derivative = Derivative::tangent};
      const auto draw = [&](Width w) {
        return draw_law(system, grid_to(1, 4), model.start_values(), kNoise, options, kernels(w));
      };
      const LawPath a = draw(Width::avx2), b = draw(Width::avx512);
      EXPECT_EQ(numbers(a), numbers(b)) << name;
      for (std::size_t p = 0; p < a.dynamics->dynamic.size(); ++p) EXPECT_EQ(tangents(a, p), tangents(b, p)) << name;
    }
  }
}

TEST(Laws, OverflowIsReportedWithTimeLevelAndParameters) {
  const Model model = parse_model(
      "[state]\nx = 2\n[parameters]\ngrowth = 3\n[interaction]\nm = \"sin(x')\"\n[drift]\nx = \"growth*x^3 + m\"\n"
      "[diffusion]\nx = 1\n[observation]\ny = \"normal(x, 1)\"\n",
      "explosion.toml");
  try {
    draw_law(System(model), grid_to(20, 2), model.start_values(), kNoise, {.particles = 10});
    FAIL() << "no overflow reported";
  } catch (const NumericalError& e) {
    const std::string message = e.what();
    for (const char* part : {"overflow", "level 2", "growth = 3", "t = "})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}
}  // namespace
