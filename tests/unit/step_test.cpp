// Programs are derived from any step: here Heun's, with half the variance, against the same step written out by hand.
#include "step/step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <utility>

#include "noise/columns.hpp"
#include "step/dynamics.hpp"

namespace mckean {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;

const char* const kTwoStates = R"toml(
[state]
x = 0.3
v = 0.1
[parameters]
a = 0.8
b = 0.4
[interaction]
pull = "sin(x' - x)"
[drift]
x = "a*v - x^2 + b*pull"
v = "b*sin(x) - a*v + 0.3*t"
[diffusion]
x = ["0.4*sqrt(1 + x^2)", "0.2"]
v = ["0.1*v", "0.5 + 0.1*cos(x)"]
[observation]
y = "normal(x, 1)"
)toml";

// The mean of the drifts at x and at x + flow · drift, with the averages over the law held.
Step heun_step(const Model& model, const MeanField& field) {
  Step step = euler_step(model, field);
  const StepSymbols time(model);
  Substitution ahead{{time.t.id(), time.t + time.flow}};
  for (std::size_t c = 0; c < step.rate.size(); ++c) {
    const Expr x = model.components()[c].symbol;
    ahead.emplace(x.id(), x + time.flow * step.rate[c]);
  }
  for (Expr& rate : step.rate) rate = 0.5 * (rate + substitute(rate, ahead));
  step.flow_per_variance = time.flow / time.variance;
  return step;
}

struct Heun {
  double a, b, t, flow, variance;
  Vector2d m;  // the averages of the two moments of sin(x' − x), in the order of the field

  Vector2d drift(const Vector2d& at, double when) const {
    const double pull = m[0] * std::cos(at[0]) - m[1] * std::sin(at[0]);
    return {a * at[1] - at[0] * at[0] + b * pull, b * std::sin(at[0]) - a * at[1] + 0.3 * when};
  }
  Vector2d mean(const Vector2d& x) const {
    const Vector2d first = drift(x, t);
    return x + 0.5 * flow * (first + drift(x + flow * first, t + flow));
  }
  static Matrix2d sigma(const Vector2d& x) {
    return Matrix2d{{0.4 * std::sqrt(1 + x[0] * x[0]), 0.2}, {0.1 * x[1], 0.5 + 0.1 * std::cos(x[0])}};
  }
  Vector2d move(const Vector2d& x, const Vector2d& z) const { return mean(x) + std::sqrt(variance) * sigma(x) * z; }
  double log_density(const Vector2d& x, const Vector2d& next) const {
    const Matrix2d root = sigma(x), covariance = root * root.transpose();
    const Vector2d r = next - mean(x);
    return -0.5 * r.dot(covariance.inverse() * r) / variance - 0.5 * std::log(covariance.determinant());
  }
};

class DerivedFromHeun : public testing::Test {
 protected:
  static constexpr std::size_t n = 37;

  DerivedFromHeun() : model(parse_model(kTwoStates, "two.toml")), dynamics(model, 0, true, heun_step) {
    // Which of the two moments is the sine: that whose value at x = 0 is 0.
    const Expr first = dynamics.field.moments[0];
    sine_first = evaluate(first, {{dynamics.model.components()[0].symbol.id(), 0.0}}) == 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double s = static_cast<double>(i);
      states[0][i] = std::sin(s), states[1][i] = std::cos(2 * s), draws[0][i] = std::sin(3 * s + 1),
      draws[1][i] = std::cos(5 * s);
    }
  }

  Vector2d inputs(const Vector2d& sine_and_cosine) const {
    return sine_first ? sine_and_cosine : sine_and_cosine.reverse().eval();
  }
  static Vector2d at(const Columns& columns, std::size_t i) { return {columns[0][i], columns[1][i]}; }

  Model model;
  Dynamics dynamics;
  bool sine_first = true;
  Columns states{2, n}, draws{2, n}, moved{2, n};
  Heun heun{0.8, 0.4, 0.7, 0.3, 0.15, {0.25, 0.9}};
  const std::vector<double> theta{0.8, 0.4};
};

TEST_F(DerivedFromHeun, Move) {
  Frame move(dynamics.move);
  const Vector2d m = inputs(heun.m);
  move.set_fixed(theta);
  move.set_uniforms(std::vector{heun.t, heun.flow, std::sqrt(heun.variance), m[0], m[1]});
  move.run(std::vector<const double*>{states[0], states[1], draws[0], draws[1]}, std::vector{moved[0], moved[1]}, n);
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_LT((at(moved, i) - heun.move(at(states, i), at(draws, i))).norm(), 1e-13) << i;
}

TEST_F(DerivedFromHeun, AdvanceMovesAndMeasuresWithTangents) {
  ASSERT_TRUE(dynamics.fused);
  const Vector2d m = inputs(heun.m), dm[] = {inputs({0.3, -0.2}), inputs({-0.5, 0.1})};
  const std::size_t kept = 6 + dynamics.carried;
  Columns from(kept, n), to(kept, n);
  for (std::size_t i = 0; i < n; ++i) {
    from[0][i] = states[0][i], from[1][i] = states[1][i];
    for (std::size_t c = 2; c < 6; ++c) from[c][i] = 0.1 * static_cast<double>(c) * states[c % 2][i];
  }
  Frame measure(dynamics.measure), advance(dynamics.advance);
  std::vector<const double*> in;
  std::vector<double*> carried, out;
  for (std::size_t c = 0; c < kept; ++c) in.push_back(from[c]), out.push_back(to[c]);
  for (std::size_t c = 6; c < kept; ++c) carried.push_back(from[c]);
  measure.set_fixed(theta);
  measure.set_uniforms(std::vector{heun.t, m[0], m[1]});
  measure.run(std::span(in).first(6), carried, n);
  in.insert(in.end(), {draws[0], draws[1]});
  advance.set_fixed(theta);
  advance.set_uniforms(std::vector{heun.t, heun.flow, std::sqrt(heun.variance), heun.t + heun.flow, m[0], m[1],
                                   dm[0][0], dm[0][1], dm[1][0], dm[1][1]});
  advance.run(in, out, n);

  const double h = 1e-6;
  const Vector2d slope[] = {{0.3, -0.2}, {-0.5, 0.1}};
  Vector2d sums = Vector2d::Zero();
  for (std::size_t i = 0; i < n; ++i) {
    const Vector2d next = heun.move(at(states, i), at(draws, i));
    EXPECT_LT((at(to, i) - next).norm(), 1e-13) << i;
    sums += Vector2d(std::sin(next[0]), std::cos(next[0]));
    for (std::size_t p = 0; p < 2; ++p) {  // S' by a difference along θ_p, S and ∂m
      const auto shifted = [&](double by) {
        Heun there = heun;
        (p == 0 ? there.a : there.b) += by;
        there.m += by * slope[p];
        const Vector2d s(from[2 + 2 * p][i], from[3 + 2 * p][i]);
        return there.move(at(states, i) + by * s, at(draws, i));
      };
      const Vector2d tangent = (shifted(h) - shifted(-h)) / (2 * h);
      EXPECT_LT((Vector2d(to[2 + 2 * p][i], to[3 + 2 * p][i]) - tangent).norm(), 1e-8) << i;
    }
  }
  const Vector2d expected = inputs(sums);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(advance.sum(static_cast<std::size_t>(k)), expected[k], 1e-12);
}

TEST_F(DerivedFromHeun, TransitionDensity) {
  Frame transition(dynamics.transition);
  const Vector2d m = inputs(heun.m), next(0.2, 0.4);
  transition.set_fixed(theta);
  transition.set_uniforms(std::vector{heun.t, heun.flow, heun.variance, m[0], m[1], next[0], next[1]});
  transition.run(std::vector<const double*>{states[0], states[1]}, std::vector{moved[0]}, n);
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = heun.log_density(at(states, i), next);
    EXPECT_NEAR(moved[0][i], expected, 1e-12 * (1 + std::abs(expected))) << i;
  }
}

TEST_F(DerivedFromHeun, ScoreAndInformation) {
  Frame score(dynamics.score);
  const Vector2d m = inputs(heun.m), slope[] = {{0.3, -0.2}, {-0.5, 0.1}};
  const Vector2d dm[] = {inputs(slope[0]), inputs(slope[1])};
  const double numbers[] = {heun.t, heun.flow, heun.variance, m[0], m[1], dm[0][0], dm[0][1], dm[1][0], dm[1][1]};
  Columns same(9, n), next(2, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < 9; ++c) same[c][i] = numbers[c];
    for (int c = 0; c < 2; ++c) next[static_cast<std::size_t>(c)][i] = heun.move(at(states, i), at(draws, i))[c];
  }
  std::vector<const double*> in{states[0], states[1], next[0], next[1]};
  for (std::size_t c = 0; c < 9; ++c) in.push_back(same[c]);
  score.set_fixed(theta);
  score.clear_sums();
  score.run(in, {}, n);

  const auto shifted = [&](std::size_t p, double by) {
    Heun there = heun;
    (p == 0 ? there.a : there.b) += by;
    there.m += by * slope[p];
    return there;
  };
  const double h = 1e-5;
  double gradient[2] = {};
  Matrix2d information = Matrix2d::Zero();
  for (std::size_t i = 0; i < n; ++i) {
    const Vector2d x = at(states, i), to = at(next, i);
    const Matrix2d root = Heun::sigma(x), precision = (root * root.transpose() * heun.variance).inverse();
    Matrix2d g;
    for (std::size_t p = 0; p < 2; ++p) {
      const Heun up = shifted(p, h), down = shifted(p, -h);
      gradient[p] += (up.log_density(x, to) - down.log_density(x, to)) / (2 * h);
      g.col(static_cast<Eigen::Index>(p)) = (up.mean(x) - down.mean(x)) / (2 * h);
    }
    information += g.transpose() * precision * g;
  }
  EXPECT_NEAR(score.sum(0), gradient[0], 1e-6);
  EXPECT_NEAR(score.sum(1), gradient[1], 1e-6);
  EXPECT_NEAR(score.sum(2), information(0, 0), 1e-6);
  EXPECT_NEAR(score.sum(3), information(0, 1), 1e-6);
  EXPECT_NEAR(score.sum(4), information(1, 1), 1e-6);
}

// The classical Runge-Kutta method with averages of its own at each stage, and noise where it leads.
struct Splitting {
  Heun drift;  // of which only the drift is used
  std::array<Vector2d, 4> m;

  Vector2d slope(std::size_t stage, const Vector2d& at, double share) const {
    Heun there = drift;
    there.m = m[stage];
    return there.drift(at, drift.t + share * drift.flow);
  }
  Vector2d mean(const Vector2d& x) const {
    const double h = drift.flow;
    const Vector2d k1 = slope(0, x, 0), k2 = slope(1, x + h / 2 * k1, 0.5), k3 = slope(2, x + h / 2 * k2, 0.5),
                   k4 = slope(3, x + h * k3, 1);
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  Vector2d move(const Vector2d& x, const Vector2d& z) const {
    return mean(x) + std::sqrt(drift.variance) * Heun::sigma(mean(x)) * z;
  }
  double log_density(const Vector2d& x, const Vector2d& next) const {
    const Matrix2d root = Heun::sigma(mean(x)), covariance = root * root.transpose();
    const Vector2d r = next - mean(x);
    return -0.5 * r.dot(covariance.inverse() * r) / drift.variance - 0.5 * std::log(covariance.determinant());
  }
};

class DerivedFromSplitting : public DerivedFromHeun {
 protected:
  DerivedFromSplitting() : dynamics(model, 0, true, splitting_step) {}

  std::vector<double> with_inputs(std::vector<double> uniforms) const {
    for (const Vector2d& m : splitting.m) uniforms.insert(uniforms.end(), {inputs(m)[0], inputs(m)[1]});
    return uniforms;
  }

  Dynamics dynamics;
  Splitting splitting{heun, {Vector2d{0.25, 0.9}, {0.3, 0.8}, {0.28, 0.85}, {0.4, 0.7}}};
};

TEST_F(DerivedFromSplitting, Move) {
  Frame move(dynamics.move);
  move.set_fixed(theta);
  move.set_uniforms(with_inputs({heun.t, heun.flow, std::sqrt(heun.variance)}));
  move.run(std::vector<const double*>{states[0], states[1], draws[0], draws[1]}, std::vector{moved[0], moved[1]}, n);
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_LT((at(moved, i) - splitting.move(at(states, i), at(draws, i))).norm(), 1e-13) << i;
}

TEST_F(DerivedFromSplitting, MoveByNoiseAlone) {
  Frame move(dynamics.move_noise);
  move.set_fixed(theta);
  move.set_uniforms(std::vector{heun.t, std::sqrt(heun.variance)});
  move.run(std::vector<const double*>{states[0], states[1], draws[0], draws[1]}, std::vector{moved[0], moved[1]}, n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vector2d x = at(states, i);
    EXPECT_LT((at(moved, i) - x - std::sqrt(heun.variance) * Heun::sigma(x) * at(draws, i)).norm(), 1e-13) << i;
  }
}

TEST_F(DerivedFromSplitting, TransitionDensity) {
  Frame transition(dynamics.transition);
  const Vector2d next(0.2, 0.4);
  std::vector<double> uniforms = with_inputs({heun.t, heun.flow, heun.variance});
  uniforms.insert(uniforms.end(), {next[0], next[1]});
  transition.set_fixed(theta);
  transition.set_uniforms(uniforms);
  transition.run(std::vector<const double*>{states[0], states[1]}, std::vector{moved[0]}, n);
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = splitting.log_density(at(states, i), next);
    EXPECT_NEAR(moved[0][i], expected, 1e-12 * (1 + std::abs(expected))) << i;
  }
}

// Also by the noise's own dependence on where the flow leads.
TEST_F(DerivedFromSplitting, Score) {
  Frame score(dynamics.score);
  const Vector2d slope[] = {{0.3, -0.2}, {-0.5, 0.1}};
  std::vector<double> numbers = with_inputs({heun.t, heun.flow, heun.variance});
  for (const Vector2d& by : slope)
    for (std::size_t stage = 0; stage < 4; ++stage) numbers.insert(numbers.end(), {inputs(by)[0], inputs(by)[1]});
  Columns same(numbers.size(), n), next(2, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < numbers.size(); ++c) same[c][i] = numbers[c];
    const Vector2d to = splitting.move(at(states, i), at(draws, i));
    next[0][i] = to[0], next[1][i] = to[1];
  }
  std::vector<const double*> in{states[0], states[1], next[0], next[1]};
  std::as_const(same).append_to(in);
  score.set_fixed(theta);
  score.clear_sums();
  score.run(in, {}, n);
  const double h = 1e-5;
  for (std::size_t p = 0; p < 2; ++p) {
    const auto shifted = [&](double by) {
      Splitting there = splitting;
      (p == 0 ? there.drift.a : there.drift.b) += by;
      for (Vector2d& m : there.m) m += by * slope[p];
      return there;
    };
    double gradient = 0;
    for (std::size_t i = 0; i < n; ++i)
      gradient +=
          (shifted(h).log_density(at(states, i), at(next, i)) - shifted(-h).log_density(at(states, i), at(next, i))) /
          (2 * h);
    EXPECT_NEAR(score.sum(p), gradient, 1e-6 * (1 + std::abs(gradient)));
  }
}
}  // namespace
}  // namespace mckean
