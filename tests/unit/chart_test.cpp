// Lamperti's transform: x(z) solves dx/dz = s(x), for every form of s that is known.
#include "engine/quadrature/chart.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mckean/model.hpp"

namespace {

using namespace mckean;

BlockKind kind_of(Graph& graph, const std::function<Expr(Expr)>& s, double start) {
  const Expr x = graph.state("x");
  return {{x}, {start}, {0}, {x}, {{s(x)}}};
}

struct Form {
  const char* name;
  std::function<Expr(Expr)> s;
  double start, from, to;  // z
  bool ends_below, ends_above;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"geometric", [](Expr x) { return 0.3 * x; }, 2, -4, 4, false, false},
      {"geometric, below 0", [](Expr x) { return 0.3 * x; }, -2, -4, 4, false, false},
      {"beside a level", [](Expr x) { return 0.5 * (x - 1); }, 3, -4, 4, false, false},
      {"square root", [](Expr x) { return 0.5 * sqrt(x); }, 1, -3.5, 5, true, false},
      {"square root of a distance", [](Expr x) { return sqrt(0.3 * (2 - x)); }, 1, -5, 3, false, true},
      {"Jacobi", [](Expr x) { return 0.4 * sqrt(x * (1 - x)); }, 0.3, -2.5, 4.5, true, true},
      {"that grows", [](Expr x) { return sqrt(0.2 + 0.1 * x * x); }, 0.5, -5, 5, false, false},
      {"between square root and geometric", [](Expr x) { return sqrt(0.2 * x + 0.1 * x * x); }, 1, -3, 5, true, false},
      {"logistic", [](Expr x) { return 0.7 * x * (2 - x); }, 0.4, -4, 4, false, false}};
  return all;
}

TEST(Chart, SolvesItsEquation) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    Graph graph;
    const BlockKind kind = kind_of(graph, form.s, form.start);
    const auto chart = chart_of(kind);
    ASSERT_TRUE(chart);
    const Expr z = kind.x[0], s = noise_of(kind), slope_of_s = differentiate(s, z);
    const auto at = [&](Expr e, double v) { return evaluate(e, {{z.id(), v}}); };
    EXPECT_NEAR(at(chart->x, 0), form.start, 1e-14);
    for (int k = 0; k <= 20; ++k) {
      const double here = std::lerp(form.from, form.to, k / 20.0), x = at(chart->x, here);
      EXPECT_NEAR(at(chart->slope, here), at(s, x), 1e-12 * (1 + at(s, x))) << here;
      EXPECT_NEAR(at(chart->bend, here), at(s, x) * at(slope_of_s, x), 1e-12) << here;
      EXPECT_NEAR(at(differentiate(chart->x, z), here), at(chart->slope, here), 1e-12 * (1 + at(s, x))) << here;
    }
    EXPECT_EQ(std::isfinite(chart->lo), form.ends_below);
    EXPECT_EQ(std::isfinite(chart->hi), form.ends_above);
    for (const double end : {chart->lo, chart->hi}) {
      if (!std::isfinite(end)) continue;
      EXPECT_NEAR(at(chart->slope, end), 0, 1e-12);
      EXPECT_TRUE(end < form.from || end > form.to);
    }
  }
}

TEST(Chart, NoneOfOtherForms) {
  const std::vector<std::function<Expr(Expr)>> others{
      [](Expr x) { return 0.3 + 0.1 * sin(x); },
      [](Expr x) { return 0.3 * x * (1 + 1e-6 * x * x); },
      [](Expr x) { return pow(x, 0.75); },
      [](Expr x) {
        return 0.3 * x + 0.0 * x.graph().symbol({Kind::time, "t"}) + x.graph().symbol({Kind::time, "t"});
      },
      [](Expr x) { return 0.3 * abs(x); },
      [](Expr x) { return x.graph().number(0.3); }};
  for (std::size_t k = 0; k < others.size(); ++k) {
    Graph graph;
    const bool found = chart_of(kind_of(graph, others[k], 1)).has_value();
    EXPECT_EQ(found, k == 4) << k;  // |x| is x where it starts, and never reaches 0
  }
}
}  // namespace
