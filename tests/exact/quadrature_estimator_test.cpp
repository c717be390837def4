// The likelihood on grids, its derivatives and its maximum, against exact answers: a Kalman filter where the model is
// linear, the oracle's quadrature with hand-written functions and difference quotients elsewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "engine/quadrature/quadrature_engine.hpp"
#include "infer/maximise.hpp"
#include "mckean/tasks.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"

namespace {

using namespace mckean;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using oracle::missing;

VectorXd vector(const std::vector<double>& v) { return VectorXd::Map(v.data(), static_cast<Eigen::Index>(v.size())); }

// Value to 1e-8, gradient to 1e-6 and Hessian to 1e-4 of their size.
void expect_agreement(const Model& model, const Data& data, int level, const std::vector<double>& theta,
                      const oracle::Function& exact, bool derivatives = true) {
  SCOPED_TRACE(testing::Message() << model.name() << " level " << level);
  const Quadrature quadrature({model, data}, level);
  const QuadratureValue found = quadrature.value(theta);
  EXPECT_NEAR(found.loglik, exact(vector(theta)), 1e-8);
  EXPECT_NEAR(found.loglik, quadrature.value(theta, Quadrature::Order::value).loglik, 1e-10);
  if (!derivatives) return;
  const VectorXd gradient = oracle::gradient(exact, vector(theta));
  EXPECT_LT((found.gradient - gradient).norm(), 1e-6 * (1 + gradient.norm())) << found.gradient << "\nfor\n"
                                                                              << gradient;
  const MatrixXd hessian = oracle::hessian(exact, vector(theta));
  EXPECT_LT((found.hessian - hessian).norm(), 1e-4 * hessian.norm()) << found.hessian << "\nfor\n" << hessian;
}

Request at_level(int level) { return {.effort = {.level = level}}; }

Maximum maximum(const Model& model, const Data& data, int level, const std::vector<double>& start) {
  const auto found = maximise(QuadratureEngine({model, data}), start, {.request = at_level(level)});
  if (!found) throw NumericalError(found.failure().message);
  return *found;
}

VectorXd standard_errors(const Maximum& m) { return m.information.inverse().diagonal().cwiseSqrt(); }

void expect_maximum(const Maximum& found, const oracle::Maximum& exact) {
  ASSERT_TRUE(found.converged) << found.message;
  ASSERT_TRUE(exact.converged);
  EXPECT_NEAR(found.loglik, exact.value, 1e-8);
  for (Eigen::Index i = 0; i < exact.theta.size(); ++i) {
    EXPECT_NEAR(found.theta[static_cast<std::size_t>(i)], exact.theta(i), 1e-6) << i;
    EXPECT_NEAR(standard_errors(found)(i), exact.standard_error(i), 1e-4 * exact.standard_error(i)) << i;
  }
}

oracle::Function quadrature_of(const oracle::ScalarFamily& family, const Data& data, int level) {
  return [&family, &data, level](const VectorXd& t) { return oracle::log_likelihood(family(t), data, level); };
}

oracle::LinearModel ou_at(const VectorXd& t) {
  return oracle::mean_field_ou({.kappa = t(0), .mu = t(1), .beta = t(2), .R = t(3)});
}

TEST(QuadratureEstimator, LinearModelsAtEveryLevel) {
  const Model model = tests::shipped("mean-field-ou");
  const Data data = oracle::ou_data();
  for (int level = 0; level <= 5; ++level)
    expect_agreement(model, data, level, {1, 7, 1, 1},
                     [&](const VectorXd& t) { return oracle::log_likelihood(ou_at(t), data, level); });
  const VectorXd score = Quadrature({model, data}, 3).value(std::vector<double>{1, 7, 1, 1}).gradient;
  EXPECT_LT((score - VectorXd{{1.756864, 2.473713, -0.939011, 1.864270}}).norm(),
            2e-6);  // with the law held: 0.55, 1.48
}

// One step of length 1 predicts the first observation five standard deviations away.
TEST(QuadratureEstimator, ObservationsFarInTheTails) {
  const Data data = oracle::ou_data();
  expect_agreement(tests::shipped("mean-field-ou"), data, 0, {1.5, 7, 0.1, 0.2},
                   [&](const VectorXd& t) { return oracle::log_likelihood(ou_at(t), data, 0); });
  const Data outlier = oracle::unit_series({0.5, 0.7, 30, 1.2});
  expect_agreement(tests::shipped("mean-field-ou"), outlier, 3, {1, 1, 0.3, 0.5},
                   [&](const VectorXd& t) { return oracle::log_likelihood(ou_at(t), outlier, 3); });
}

TEST(QuadratureEstimator, MaximumOfALinearModel) {
  const Model model = tests::shipped("mean-field-ou");
  const Data data = oracle::ou_data();
  for (const int level : {2, 3}) {  // at level 1 a factor 1 − (kappa + beta)/2 of either sign fits as well
    const auto exact = oracle::mle(ou_at, VectorXd{{1.1, 7, -0.7, 0.3}}, data, level);
    for (const std::vector<double>& start : {std::vector<double>{1, 7, 1, 1}, {3, 5, 0.5, 3}})
      expect_maximum(maximum(model, data, level, start), exact);
  }
}

// Two observed columns of one state, each with a parameter, irregular times, missing values, two series, a random start
// that is observed.
TEST(QuadratureEstimator, ColumnsMissingValuesIrregularTimes) {
  const Model model = parse_model(R"toml(
[state]
x = "normal(0.5, 0.4)"
[parameters]
tau = { start = 0.7, lower = 0 }
k = { start = 0.9, lower = 0, upper = 3 }
b = 0.4
c = -0.2
[interaction]
m = "x'"
[drift]
x = "k*(m - x) + b - 0.3*x"
[diffusion]
x = 0.6
[observation]
y = "normal(x, tau)"
z = "normal(2*x + c, 0.5)"
)toml",
                                  "columns.toml");
  const Data data{"columns.csv",
                  model.columns(),
                  {{"a",
                    {0, 0.7, 1.1, 2.6, 3.0, 5.5},
                    {0.3, missing, 1.0, 1.9, missing, missing, 1.9, 3.2, 1.5, missing, 0.2, 0.9},
                    {1, 2, 3, 4, 5, 6}},
                   {"b", {0.7, 1.0, 4.0}, {missing, 1.1, 0.2, 0.3, 2.5, missing}, {7, 8, 9}}}};
  for (const int level : {0, 3})
    expect_agreement(model, data, level, {0.7, 0.9, 0.4, -0.2}, [&](const VectorXd& t) {
      Data shifted = data;  // c as a shift of the data: the oracle has no offset
      for (auto& s : shifted.series)
        for (std::size_t i = 1; i < s.values.size(); i += 2) s.values[i] -= t(3);
      oracle::LinearModel exact =
          oracle::mean_field_ou({.kappa = 0.3, .mu = t(2) / 0.3, .beta = t(1), .R = 1, .s = 0.6});
      exact.m0 = VectorXd{{0.5}}, exact.P0 = MatrixXd{{0.16}};
      exact.H = MatrixXd{{1}, {2}}, exact.R = VectorXd{{t(0) * t(0), 0.25}};
      return oracle::log_likelihood(exact, shifted, level);
    });
}

TEST(QuadratureEstimator, KuramotoFromPoorStarts) {
  for (const double K : {1.0, -1.0}) {
    SCOPED_TRACE(K);
    const oracle::ScalarFamily family = [K](const VectorXd& t) { return oracle::kuramoto({.theta = t(0), .K = K}); };
    const Data data = oracle::simulate(family(VectorXd{{0.5}}), {.T = 40, .tau = 1});
    const Model model = tests::shipped("kuramoto", {{"K", K}});
    for (const int level : {0, 1}) expect_agreement(model, data, level, {0.45}, quadrature_of(family, data, level));
    const auto exact = oracle::mle(family, VectorXd{{0.5}}, data, 1);
    for (const double start : {0.0, 0.4, 1.0}) expect_maximum(maximum(model, data, 1, {start}), exact);
  }
}

// The maximum moves by half as much from level to level, and by less than a fiftieth of its standard error.
TEST(QuadratureEstimator, LevelsConverge) {
  const Data data = oracle::simulate(oracle::kuramoto({.theta = 0.5}), {.T = 60, .tau = 1});
  const Model model = tests::shipped("kuramoto");
  std::vector<Maximum> best;
  for (int level = 1; level <= 4; ++level) best.push_back(maximum(model, data, level, {0.4}));
  for (std::size_t l = 2; l < best.size(); ++l) {
    ASSERT_TRUE(best[l].converged);
    const double last = best[l - 1].theta[0] - best[l - 2].theta[0], now = best[l].theta[0] - best[l - 1].theta[0];
    EXPECT_NEAR(now / last, 0.5, 0.1);
    EXPECT_LT(std::abs(now), 0.02 * standard_errors(best[l])(0));
  }
}

TEST(QuadratureEstimator, ManyNeuralSeries) {
  const oracle::ScalarFamily family = [](const VectorXd& t) { return oracle::neural({.alpha = t(0), .beta = t(1)}); };
  const Data data = oracle::simulate(family(VectorXd{{0.5, 0.35}}), {.T = 12, .tau = 0.15, .count = 6});
  const Model model = tests::shipped("neural", {{"d", 1}});
  expect_agreement(model, data, 2, {0.5, 0.35}, quadrature_of(family, data, 2));
  const auto exact = oracle::mle(family, VectorXd{{0.5, 0.35}}, data, 0);
  for (const double factor : {0.5, 2.0}) expect_maximum(maximum(model, data, 0, {factor * 0.5, factor * 0.35}), exact);
}

// The filter's density has derivatives by a parameter that the law's has not.
TEST(QuadratureEstimator, KernelsThatDoNotSeparate) {
  struct Case {
    const char* kernel;
    std::function<double(double x, double other, double ell)> function;
    const char* start;
    double start_sd;
  };
  const auto bell = [](double x, double o, double l) { return std::exp(-std::pow((x - o) / l, 2) / 2); };
  const Case cases[] = {{"exp(-((x - x')/ell)^2/2)", bell, "0.3", 0},
                        {"exp(-((x - x')/ell)^2/2)", bell, "\"normal(0.3, 0.4)\"", 0.4},
                        {"1/sqrt(ell + x^2 + x*x' + x'^2)",
                         [](double x, double o, double l) { return 1 / std::sqrt(l + x * x + x * o + o * o); },
                         "\"normal(0.3, 0.4)\"", 0.4}};
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.kernel << " from " << c.start);
    const Model model = parse_model(fmt::format(R"toml(
[state]
x = {}
[parameters]
tau = 0.5
theta = 0.8
ell = 1.1
[interaction]
k = "{}"
[drift]
x = "0.2 - 0.5*x + theta*k"
[diffusion]
x = 0.5
[observation]
y = "normal(x, tau)"
)toml",
                                                c.start, c.kernel),
                                    "kernel.toml");
    const oracle::ScalarFamily family = [&c](const VectorXd& t) {
      oracle::ScalarModel exact;
      exact.xi = {[&c, l = t(2)](double x, double o) { return c.function(x, o, l); }};
      exact.drift = [a = t(1)](double x, std::span<const double> m, double) { return 0.2 - 0.5 * x + a * m[0]; };
      exact.sigma = [](double, double) { return 0.5; };
      exact.x0 = 0.3, exact.sd0 = c.start_sd;
      exact.log_g = [tau = t(0)](double x, double y) {
        return -0.5 * std::pow((y - x) / tau, 2) - std::log(tau * std::sqrt(2 * std::numbers::pi));
      };
      return exact;
    };
    const Data data = oracle::unit_series({0.5, 1.2, 0.1, -0.7});
    expect_agreement(model, data, 1, {0.5, 0.8, 1.1}, quadrature_of(family, data, 1));
  }
}

// x + k x(1 − x)Δ + 0.2 x√Δ ξ never leaves the positive numbers by any chance that matters: on a uniform grid of log x
// the density is smooth, where that of x has ever sharper features towards 0.
double logistic_growth(double k, const Data& data, int level) {
  constexpr double kLow = -5, kStep = 1.0 / 64;
  constexpr std::size_t kPoints = 8 * 64;
  const auto at = [](std::size_t i) { return std::exp(kLow + kStep * static_cast<double>(i)); };
  const auto normal = [](double z, double sd) { return std::exp(-z * z / 2) / (sd * std::sqrt(2 * std::numbers::pi)); };
  const double dt = std::ldexp(1.0, -level);
  const auto spread = [&](double x, double mass, std::vector<double>& to) {
    const double mean = x + k * x * (1 - x) * dt, sd = 0.2 * x * std::sqrt(dt);
    for (std::size_t j = 0; j < kPoints; ++j)
      if (const double z = (at(j) - mean) / sd; std::abs(z) < 9) to[j] += mass * normal(z, sd) * at(j) * kStep;
  };
  double log_value = 0;
  std::vector<double> mass;
  for (std::size_t row = 0; row < data.series[0].times.size(); ++row) {
    for (int step = 0; step < 1 << level; ++step) {
      std::vector<double> next(kPoints, 0);
      if (mass.empty())
        spread(0.5, 1, next);
      else
        for (std::size_t i = 0; i < kPoints; ++i)
          if (mass[i] > 1e-30) spread(at(i), mass[i], next);
      mass = next;
    }
    const double y = data.series[0].values[row];
    double total = 0;
    for (std::size_t i = 0; i < kPoints; ++i) {
      mass[i] *= normal((std::log(y) - std::log(at(i))) / 0.2, 0.2) / y;
      total += mass[i];
    }
    log_value += std::log(total);
    for (double& m : mass) m /= total;
  }
  return log_value;
}

TEST(QuadratureEstimator, NoiseThatVanishesAtZero) {
  const Model model = parse_model(R"toml(
[state]
x = 0.5
[parameters]
k = 1
[drift]
x = "k*x*(1 - x)"
[diffusion]
x = "0.2*x"
[observation]
y = "lognormal(log(abs(x) + 1e-30), 0.2)"
)toml",
                                  "logistic.toml");
  const Data data = oracle::unit_series({0.4, 0.9, 1.3, 0.8, 1.1, 0.7, 0.9, 1.2});
  expect_agreement(model, data, 2, {1.7}, [&](const VectorXd& t) { return logistic_growth(t(0), data, 2); });
}

// A count, a bounded count and a density of the user's own, of a state whose noise depends on place and time.
TEST(QuadratureEstimator, VaryingNoiseAndOtherObservations) {
  const auto lgamma = [](double v) { return std::lgamma(v); };
  struct Case {
    const char* observation;
    std::function<double(double x, double y, double r)> log_g;
    std::vector<double> values;
  };
  const Case cases[] = {
      {"\"poisson(exp(x + r))\"",
       [&](double x, double y, double r) { return y * (x + r) - std::exp(x + r) - lgamma(y + 1); },
       {3, 0, 1, 7, 2}},
      {"\"binomial(5, sigmoid(r*x))\"",
       [&](double x, double y, double r) {
         const double p = 1 / (1 + std::exp(-r * x));
         return lgamma(6) - lgamma(y + 1) - lgamma(6 - y) + y * std::log(p) + (5 - y) * std::log1p(-p);
       },
       {3, 0, 5, 4, 2}},
      {"{ log_density = \"-log(2*r*cosh((y - x)/(r*0.6366197723675814)))\" }",
       [](double x, double y, double r) { return -std::log(2 * r * std::cosh((y - x) / (r * 0.6366197723675814))); },
       {0.4, 1.2, -0.5, 0.1, 0.9}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.observation);
    const Model model = parse_model(std::string(R"toml(
[state]
x = 0.2
[parameters]
r = 0.6
a = 0.5
[interaction]
m = "tanh(x')"
[drift]
x = "a*m - x + sin(a*t)"
[diffusion]
x = "0.4 + 0.15*sin(2*x + t)"
[observation]
y = )toml") + c.observation + "\n",
                                    "varying.toml");
    const oracle::ScalarFamily family = [&](const VectorXd& t) {
      oracle::ScalarModel exact;
      exact.psi = {[](double x) { return std::tanh(x); }};
      exact.drift = [a = t(1)](double x, std::span<const double> m, double s) {
        return a * m[0] - x + std::sin(a * s);
      };
      exact.sigma = [](double x, double s) { return 0.4 + 0.15 * std::sin(2 * x + s); };
      exact.x0 = 0.2;
      exact.log_g = [&c, r = t(0)](double x, double y) { return c.log_g(x, y, r); };
      return exact;
    };
    Data data = oracle::unit_series(c.values);
    data.series[0].times = {0.5, 1, 2.2, 2.9, 4};
    expect_agreement(model, data, 2, {0.6, 0.5}, quadrature_of(family, data, 2));
    const double once = Quadrature({model, data}, 2).value(std::vector<double>{0.6, 0.5}).loglik;
    EXPECT_NEAR(Quadrature({model, data}, 2, {.resolution = 2, .cut = 12}).value(std::vector<double>{0.6, 0.5}).loglik,
                once, 1e-10);
  }
}

template <class Error, class F>
void expect_message(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

Model one_line(const std::string& parameters, const std::string& drift, const std::string& observation) {
  return parse_model("[state]\nx = 0.5\n[parameters]\n" + parameters + "[drift]\nx = \"" + drift +
                         "\"\n[diffusion]\nx = 0.5\n[observation]\ny = \"" + observation + "\"\n",
                     "line.toml");
}

TEST(QuadratureEstimator, RefusalsSayWhy) {
  const Data data = oracle::unit_series({0.5, 1.1, 0.2});
  const Model plane = tests::shipped("fitzhugh-nagumo");
  expect_message<InputError>(
      [&] {
        make_engine("quadrature", {plane, data});
      },
      "meet in a drift, a noise or an observation");
  const Model fast = one_line("a = 1\n", "a*x^3*exp(x^4)", "normal(x, 1)");
  expect_message<NumericalError>([&] { Quadrature({fast, data}, 0).value(std::vector<double>{1}); }, "t = 1");
  const Model slow = one_line("a = 1\n", "-a*x", "normal(x, 1)");
  expect_message<NumericalError>(
      [&] {
        Quadrature({slow, data}, 1, {.work = 500}).value(std::vector<double>{1});
      },
      "too large a grid");
  const Model negative = one_line("a = 1\n", "-a*x", "poisson(x)");
  const Data counts = oracle::unit_series({1, 2, 0});
  expect_message<NumericalError>([&] { maximum(negative, counts, 1, {1}); }, "example:2: t = 1");
}

// A fit's grids have half the points, and leave an error that is far below what levels leave.
TEST(QuadratureEstimator, AnErrorThatIsAllowedSavesWork) {
  const Data data = oracle::unit_series({0.5, 1.1, 0.2, missing, 0.4, -2.3, 0.6, 1.9});
  for (const Model& model : {tests::shipped("desai-zwanzig"), tests::shipped("kuramoto"),
                             one_line("a = 1\nb = 0.5\n", "a*x - b*x^3", "student_t(3, x, 0.3)")})
    for (const Scheme scheme : {Scheme::euler, Scheme::splitting}) {
      SCOPED_TRACE(model.name());
      const QuadratureEngine engine({model, data});
      Request request{.effort = {.level = 4, .scheme = scheme}};
      const Outcome exact = engine.at(model.start_values(), Order::information, {}, request);
      request.error = 1e-8;
      const Outcome found = engine.at(model.start_values(), Order::information, {}, request);
      ASSERT_TRUE(exact && found);
      EXPECT_NEAR(found->loglik, exact->loglik, 1e-8);
      for (std::size_t i = 0; i < exact->gradient.size(); ++i)
        EXPECT_NEAR(found->gradient[i], exact->gradient[i], 1e-6 * (1 + std::abs(exact->gradient[i])));
      for (std::size_t i = 0; i < exact->information.size(); ++i)
        EXPECT_NEAR(found->information[i], exact->information[i], 1e-5 * (1 + std::abs(exact->information[i])));
      EXPECT_LT(found->work, 0.7 * exact->work);
    }
}

TEST(QuadratureEstimator, Stops) {
  const Data data = oracle::unit_series({0.5, 1.1, 0.2});
  const Model model = one_line("a = 1\n", "-a*x", "normal(x, 1)");
  std::stop_source source;
  const QuadratureEngine engine({model, data});
  const MaximiseOptions options{.request = {.effort = {.level = 1}, .stop = source.get_token()}};
  EXPECT_TRUE(maximise(engine, {1}, options)->converged);
  source.request_stop();
  EXPECT_THROW(maximise(engine, {1}, options), Stopped);
}

TEST(QuadratureEstimator, MaximaThatAreFlatOrAtABound) {
  const Data data = oracle::unit_series({0.5, 1.1, 0.2, 0.4, -0.3, 0.6});
  const Model twice = one_line("a = 0.3\nb = 0.4\n", "a + b - x", "normal(x, 0.5)");
  const auto flat = maximum(twice, data, 1, {0.3, 0.4});
  EXPECT_FALSE(flat.converged);
  EXPECT_NE(flat.message.find("singular"), std::string::npos) << flat.message;
  const Model bounded = one_line("a = { start = 1, lower = 0.9 }\n", "a - x", "normal(x, 0.5)");
  const auto bound = maximum(bounded, data, 1, {1});
  EXPECT_TRUE(bound.converged) << bound.message;
  EXPECT_EQ(bound.at_bound, std::vector<std::size_t>{0});
  EXPECT_EQ(bound.theta[0], 0.9);
  EXPECT_LT(bound.gradient(0), 0);
}
}  // namespace
