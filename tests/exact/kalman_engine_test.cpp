// The Kalman engine against the oracle's Kalman filter and differences of it: value, gradient and information at Euler
// levels and in continuous time; against quadrature where coefficients depend on time or on the law's covariance.
#include <gtest/gtest.h>

#include <cmath>

#include "mckean/engine.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"

namespace {

using namespace mckean;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using oracle::missing;

VectorXd eigen(const std::vector<double>& v) { return VectorXd::Map(v.data(), static_cast<Eigen::Index>(v.size())); }

// Value to 1e-9 of its size, gradient to 1e-7 and information to 1e-6 of theirs.
void expect_agreement(const Engine& engine, const std::vector<double>& theta, int level,
                      const oracle::Function& exact) {
  SCOPED_TRACE(level);
  const Outcome found = engine.at(theta, Order::information, {}, {.effort = {.level = level}});
  ASSERT_TRUE(found) << found.failure().message;
  const double value = exact(eigen(theta));
  EXPECT_NEAR(found->loglik, value, 1e-9 * (1 + std::abs(value)));
  const VectorXd gradient = oracle::gradient(exact, eigen(theta));
  EXPECT_LT((eigen(found->gradient) - gradient).norm(), 1e-7 * (1 + gradient.norm()));
  const auto n = gradient.size();
  const MatrixXd information = MatrixXd::Map(found->information.data(), n, n),
                 hessian = oracle::hessian(exact, eigen(theta));
  EXPECT_LT((information + hessian).norm(), 1e-6 * (1 + hessian.norm())) << information << "\nfor\n" << -hessian;
  EXPECT_DOUBLE_EQ(engine.at(theta, Order::value, {}, {.effort = {.level = level}})->loglik, found->loglik);
}

TEST(KalmanEngine, MeanFieldOuAtEveryLevelAndInContinuousTime) {
  const Model model = tests::shipped("mean-field-ou");
  const Data data = oracle::ou_data();
  const auto engine = make_engine("kalman", {model, data});
  EXPECT_TRUE(engine->exact());
  EXPECT_TRUE(engine->continuous());
  for (const int level : {kContinuous, 0, 1, 2, 3, 4, 5, 6, 7, 8})
    for (const std::vector<double>& theta : {std::vector<double>{1, 7, 1, 1}, {0.4, 6, 0, 0.3}})
      expect_agreement(*engine, theta, level, [&](const VectorXd& t) {
        return oracle::log_likelihood(oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = t(2), .R = t(3)}), data,
                                      level == kContinuous ? oracle::continuous : level);
      });
}

// Three states, a full matrix of noise, one state without noise, irregular times, missing values, two series.
constexpr const char* kPlane = R"toml(
[state]
p = "normal(0.2, 0.5)"
a = "normal(1, 0.3)"
b = 0.5
[parameters]
k = 0.9
l = { start = 0.4, lower = 0 }
u = { start = 0.6, lower = 0 }
[interaction]
abar = "a'"
bbar = "b'"
[drift]
p = "a - 0.3*p"
a = "k*(bbar - a) + 0.2*b - 0.1*p"
b = "0.5*(1 - b) + l*(abar - b)"
[diffusion]
p = 0
a = [0, "0.7", "0.2"]
b = [0, "-0.3", "0.5"]
[observation]
y = "normal(p + k*b, u)"
z = "normal(a, 0.8)"
)toml";

Data plane_data(const Model& model) {
  return {"linear.csv",
          model.columns(),
          {{"a",
            {0, 0.7, 1.1, 2.6, 3.0, 5.5},
            {0.3, missing, 1.0, 0.4, missing, missing, 1.9, 1.2, 1.5, missing, 0.2, 0.9},
            {1, 2, 3, 4, 5, 6}},
           {"b", {0.7, 1.0, 4.0}, {missing, 1.1, 0.2, 0.3, 2.5, missing}, {7, 8, 9}}}};
}

oracle::LinearModel plane_at(const VectorXd& t) {
  oracle::LinearModel m;
  const double k = t(0), l = t(1), u = t(2);
  m.A = MatrixXd{{-0.3, 1, 0}, {-0.1, -k, 0.2}, {0, 0, -0.5 - l}};
  m.B = MatrixXd{{0, 0, 0}, {0, 0, k}, {0, l, 0}};
  m.c = VectorXd{{0, 0, 0.5}};
  m.S = MatrixXd{{0, 0, 0}, {0, 0.7, 0.2}, {0, -0.3, 0.5}};
  m.m0 = VectorXd{{0.2, 1, 0.5}};
  m.P0 = VectorXd{{0.25, 0.09, 0}}.asDiagonal();
  m.H = MatrixXd{{1, 0, k}, {0, 1, 0}};
  m.R = VectorXd{{u * u, 0.64}};
  return m;
}

TEST(KalmanEngine, SeveralStatesSeriesMissingValuesIrregularTimes) {
  const Model model = parse_model(kPlane, "linear.toml");
  const Data data = plane_data(model);
  const auto engine = make_engine("kalman", {model, data});
  for (const int level : {kContinuous, 0, 2, 5, 8})
    expect_agreement(*engine, {0.9, 0.4, 0.6}, level, [&](const VectorXd& t) {
      return oracle::log_likelihood(plane_at(t), data, level == kContinuous ? oracle::continuous : level);
    });
}

Model moving_line(const std::string& interaction, const std::string& drift, const std::string& noise) {
  return parse_model("[state]\nx = \"normal(0.5, 0.4)\"\n[parameters]\na = 0.8\nb = 0.5\n[interaction]\n" +
                         interaction + "\n[drift]\nx = \"" + drift + "\"\n[diffusion]\nx = \"" + noise +
                         "\"\n[observation]\ny = \"normal(x + 0.1*t, 0.5)\"\n",
                     "line.toml");
}

// Where there is no closed form it is step by step: inputs of time, products of state and mean, squares over the law.
TEST(KalmanEngine, CoefficientsThatMove) {
  const Data data = oracle::unit_series({0.5, 1.1, 0.2, missing, 0.9});
  const std::vector<double> theta{0.8, 0.5};
  for (const Model& model :
       {moving_line("m = \"x'\"", "a*sin(t) - b*x + 0.2*m", "0.6 + 0.2*cos(t)"),
        moving_line("m = \"x'\"", "-a*x*m + b", "0.6"), moving_line("s = \"(x' - a)^2\"", "b*s - x", "0.6"),
        moving_line("s = \"x*x' + x'^2\"", "a - b*s - x", "0.6")}) {
    SCOPED_TRACE(to_text(model.components()[0].drift));
    const Problem problem(model, data);
    const auto kalman = make_engine("kalman", problem), quadrature = make_engine("quadrature", problem);
    EXPECT_FALSE(kalman->continuous());
    for (const int level : {0, 2, 4}) {
      const Request request{.effort = {.level = level}};
      const Outcome found = kalman->at(theta, Order::information, {}, request),
                    other = quadrature->at(theta, Order::information, {}, request);
      ASSERT_TRUE(found && other);
      EXPECT_NEAR(found->loglik, other->loglik, 1e-8);
      EXPECT_LT((eigen(found->gradient) - eigen(other->gradient)).norm(), 1e-6);
      EXPECT_LT((eigen(found->information) - eigen(other->information)).norm(), 1e-5);
    }
  }
}

TEST(KalmanEngine, TemperedObservations) {
  const Model model = tests::shipped("ou");
  const Data data = oracle::ou_data();
  const Problem problem(model, data);
  for (const double temper : {1.0, 0.25, 0.01}) {
    const Request request{.effort = {.level = 3, .temper = temper}};
    const std::vector<double> theta{0.7, 6, 0.8};
    EXPECT_NEAR(make_engine("kalman", problem)->at(theta, Order::value, {}, request)->loglik,
                make_engine("quadrature", problem)->at(theta, Order::value, {}, request)->loglik, 1e-8)
        << temper;
  }
}

// The mean of the squared prediction errors is 1 at the truth, and they are the one-step ones of a filter of particles.
TEST(KalmanEngine, PredictionErrors) {
  const Model model = parse_model(kPlane, "linear.toml");
  const Problem problem(model, plane_data(model));
  const Outcome exact = make_engine("kalman", problem)
                            ->at(model.start_values(), Order::value, {}, {.effort = {.level = 3}, .predictions = true});
  const Outcome particles =
      make_engine("particles", problem)
          ->at(model.start_values(), Order::value, {},
               {.effort = {.level = 3, .particles = 65536, .law_particles = 65536}, .predictions = true});
  ASSERT_EQ(exact->prediction_errors.size(), particles->prediction_errors.size());
  for (std::size_t i = 0; i < exact->prediction_errors.size(); ++i) {
    if (std::isnan(exact->prediction_errors[i])) {
      EXPECT_TRUE(std::isnan(particles->prediction_errors[i]));
      continue;
    }
    EXPECT_NEAR(exact->prediction_errors[i], particles->prediction_errors[i], 0.03) << i;
  }
}

// Against the oracle's smoother at every observed time.
TEST(KalmanEngine, SmoothedStates) {
  const Model model = parse_model(kPlane, "linear.toml");
  const Data data = plane_data(model);
  const auto engine = make_engine("kalman", {model, data});
  for (const int level : {0, 2, kContinuous}) {
    const int theirs = level == kContinuous ? oracle::continuous : level;
    const auto grid = oracle::make_grid(data, theirs);
    const Request request{.effort = {.level = level}};
    const auto law = engine->law(model.start_values(), {}, request);
    const auto found = engine->states(**law, request);
    ASSERT_TRUE(found && *found);
    const auto exact = oracle::smooth(plane_at(eigen(model.start_values())), data, theirs);
    for (std::size_t s = 0; s < data.series.size(); ++s)
      for (std::size_t k = 0; k < grid.size(); ++k) {
        if (grid.rows[s][k] == oracle::Grid::none) continue;
        for (std::size_t c = 0; c < 3; ++c) {
          const auto i = static_cast<Eigen::Index>(c);
          const Smoothed& at = (**found)[s][c][static_cast<std::size_t>(grid.rows[s][k])];
          EXPECT_NEAR(at.mean, exact[s].mean[k](i), 1e-9);
          EXPECT_NEAR(at.sd * at.sd, exact[s].covariance[k](i, i), 1e-9);
        }
      }
  }
}

TEST(KalmanEngine, RefusalsSayWhy) {
  const Data data = oracle::unit_series({0.5, 1.1});
  const auto why = [&](const std::string& interaction, const std::string& drift, const std::string& noise,
                       const std::string& observation) -> std::string {
    const Model model =
        parse_model("[state]\nx = 0.5\n[parameters]\na = 0.8\n[interaction]\n" + interaction + "\n[drift]\nx = \"" +
                        drift + "\"\n[diffusion]\nx = \"" + noise + "\"\n[observation]\ny = \"" + observation + "\"\n",
                    "line.toml");
    for (const EngineKind& kind : engine_kinds())
      if (std::string(kind.name) == "kalman") return kind.refuses({model, data}).value_or("");
    return "no such engine";
  };
  const auto names = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_EQ(why("m = \"x'\"", "a*(m - x)", "1", "normal(2*x, 0.5)"), "");
  EXPECT_TRUE(names(why("m = \"x'\"", "a*m - x^3", "1", "normal(x, 0.5)"), "drift of 'x' is not linear"));
  EXPECT_TRUE(names(why("m = \"x'^3\"", "a*m - x", "1", "normal(x, 0.5)"), "more than second degree"));
  EXPECT_TRUE(names(why("m = \"x'\"", "a*m - x", "0.1 + x^2", "normal(x, 0.5)"), "noise of 'x'"));
  EXPECT_TRUE(names(why("m = \"x'\"", "a*m - x", "1", "student_t(3, x, 0.5)"), "'y' is not normal"));
  EXPECT_TRUE(names(why("m = \"x'\"", "a*m - x", "1", "normal(exp(x), 0.5)"), "mean of observation 'y'"));
  EXPECT_TRUE(names(why("m = \"x'\"", "a*m - x", "1", "normal(x, exp(x))"), "noise of observation 'y'"));
}
}  // namespace
