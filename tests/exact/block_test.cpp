// States in blocks of one component by quadrature: against the oracle, which takes every component by itself, against
// the Kalman engine where the model is linear, and against particles.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/quadrature/quadrature_engine.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"
#include "z_score.hpp"

namespace {

using namespace mckean;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using oracle::missing;

VectorXd as_vector(const std::vector<double>& v) {
  return VectorXd::Map(v.data(), static_cast<Eigen::Index>(v.size()));
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// Value to 1e-8, gradient to 1e-6 and Hessian to 1e-4 of their size.
void expect_as_oracle(const Model& model, const Data& data, int level, const std::vector<double>& theta,
                      const oracle::Function& exact) {
  SCOPED_TRACE(level);
  const QuadratureValue found = Quadrature({model, data}, level).value(theta);
  EXPECT_NEAR(found.loglik, exact(as_vector(theta)), 1e-8);
  const VectorXd gradient = oracle::gradient(exact, as_vector(theta));
  EXPECT_LT((found.gradient - gradient).norm(), 1e-6 * (1 + gradient.norm())) << found.gradient << "\nfor\n"
                                                                              << gradient;
  const MatrixXd hessian = oracle::hessian(exact, as_vector(theta));
  EXPECT_LT((found.hessian - hessian).norm(), 1e-4 * hessian.norm()) << found.hessian << "\nfor\n" << hessian;
}

// Two series of three columns with values missing, at times that are not equally spaced.
Data three_columns(const Model& model) {
  return {"three.csv",
          model.columns(),
          {{"a",
            {0, 0.7, 1.5, 3, 4},
            {1.1, 0.9, 1.0, missing, 0.6, missing, 0.4, 0.5, 0.7, missing, missing, missing, 0.3, missing, 0.2},
            {1, 2, 3, 4, 5}},
           {"b", {1.5, 2, 5}, {missing, 0.6, 0.1, missing, missing, 0.3, missing, 0.3, missing}, {6, 7, 8}}}};
}

oracle::ScalarModel neuron(double alpha, double beta, double b, double x0, double sd0) {
  oracle::ScalarModel m;
  m.drift = [=](double x, std::span<const double> mean, double) {
    return alpha * ((mean[0] + mean[1] + mean[2]) / 3 - sigmoid_of(x)) + beta * (-x - b);
  };
  m.sigma = [](double, double) { return 0.15; };
  m.psi = {sigmoid_of};
  m.x0 = x0, m.sd0 = sd0;
  m.log_g = [](double x, double y) {
    return -0.5 * std::pow((y - x) / 0.15, 2) - std::log(0.15 * std::sqrt(2 * M_PI));
  };
  return m;
}

TEST(Block, EqualNeuronsAgreeWithTheOracle) {
  const Model model = tests::shipped("neural", {{"d", 3}});
  const Data data = three_columns(model);
  for (const int level : {0, 3})
    expect_as_oracle(model, data, level, {0.9, 0.4}, [&](const VectorXd& t) {
      const std::vector<oracle::ScalarModel> all(3, neuron(t(0), t(1), 0, 1, 0));
      return oracle::log_likelihood(all, data, level);
    });
}

// Other constants and starts: two kinds, whose laws are coupled.
TEST(Block, DifferentNeuronsAgreeWithTheOracle) {
  const Model model = parse_model(
      "[state]\nx = { size = 3, start = [\"normal(1, 0.3)\", 0.5, \"normal(1, 0.3)\"] }\n"
      "[parameters]\nalpha = 0.9\nbeta = 0.4\n[constants]\nb = [0.1, -0.4, 0.1]\n"
      "[interaction]\nfbar = \"mean(sigmoid(x'))\"\n"
      "[drift]\nx = \"alpha*(fbar - sigmoid(x)) + beta*(-x - b)\"\n[diffusion]\nx = 0.15\n"
      "[observation]\ny = \"normal(x, 0.15)\"\n",
      "neurons.toml");
  const Data data = three_columns(model);
  for (const int level : {0, 3})
    expect_as_oracle(model, data, level, {0.9, 0.4}, [&](const VectorXd& t) {
      const std::vector<oracle::ScalarModel> all{neuron(t(0), t(1), 0.1, 1, 0.3), neuron(t(0), t(1), -0.4, 0.5, 0),
                                                 neuron(t(0), t(1), 0.1, 1, 0.3)};
      return oracle::log_likelihood(all, data, level);
    });
}

// Kernels that split only over the laws of two components, and noise that depends on the state.
TEST(Block, ProductsOfAveragesAgreeWithTheOracle) {
  const Model model = parse_model(
      "[state]\nx = \"normal(0.5, 0.2)\"\nv = 1\nw = 0.2\n[parameters]\na = 0.8\nb = 0.5\n"
      "[interaction]\nk = \"(v' - b*x')^2*cos(w' + v')\"\n"
      "[drift]\nx = \"a*k - x\"\nv = \"0.4*k - b*v\"\nw = \"-sin(w)\"\n"
      "[diffusion]\nx = 0.4\nv = \"0.3 + 0.1*sin(v)\"\nw = 0.5\n"
      "[observation]\ny = \"normal(x, 0.5)\"\nz = \"normal(v, 0.4)\"\nu = \"normal(w, 0.5)\"\n",
      "products.toml");
  const Data data = three_columns(model);
  const auto part = [](double x0, double sd0, double sd, auto drift, auto sigma) {
    oracle::ScalarModel m;
    m.x0 = x0, m.sd0 = sd0, m.drift = drift, m.sigma = sigma;
    m.psi = {[](double x) { return x; }, [](double x) { return x * x; }, [](double x) { return std::cos(x); },
             [](double x) { return std::sin(x); }};
    for (const int n : {1, 2})
      for (const bool sine : {false, true})
        m.psi.push_back([=](double x) { return std::pow(x, n) * (sine ? std::sin(x) : std::cos(x)); });
    m.log_g = [=](double x, double y) { return -0.5 * std::pow((y - x) / sd, 2) - std::log(sd * std::sqrt(2 * M_PI)); };
    return m;
  };
  for (const int level : {1, 3})
    expect_as_oracle(model, data, level, {0.8, 0.5}, [&](const VectorXd& t) {
      const double a = t(0), b = t(1);
      // Moments: x, x², cos, sin, x cos, x sin, x² cos, x² sin of each component in turn.
      const auto k = [b](std::span<const double> m) {
        const auto x = m.subspan(0, 8), v = m.subspan(8, 8), w = m.subspan(16, 8);
        const double cosine = v[6] - 2 * b * x[0] * v[4] + b * b * x[1] * v[2];
        const double sine = v[7] - 2 * b * x[0] * v[5] + b * b * x[1] * v[3];
        return w[2] * cosine - w[3] * sine;
      };
      using Moments = std::span<const double>;
      const std::vector<oracle::ScalarModel> all{
          part(
              0.5, 0.2, 0.5, [=](double x, Moments m, double) { return a * k(m) - x; },
              [](double, double) { return 0.4; }),
          part(
              1, 0, 0.4, [=](double x, Moments m, double) { return 0.4 * k(m) - b * x; },
              [](double x, double) { return 0.3 + 0.1 * std::sin(x); }),
          part(
              0.2, 0, 0.5, [](double x, Moments, double) { return -std::sin(x); }, [](double, double) { return 0.5; })};
      return oracle::log_likelihood(all, data, level);
    });
}

// The same interaction where the algebra separates it and where it does not.
TEST(Block, PairwiseAveragesOverAnotherKind) {
  const auto model = [](const std::string& kernel) {
    return parse_model(
        "[state]\nx = \"normal(0.3, 0.2)\"\nv = 0.6\nw = 0.6\n[parameters]\na = 0.8\nb = 0.5\n"
        "[interaction]\nk = \"" +
            kernel +
            "\"\nl = \"v' + w'\"\n"
            "[drift]\nx = \"-a*k\"\nv = \"b*l - v\"\nw = \"b*l - w\"\n[diffusion]\nx = 0.4\nv = 0.3\nw = 0.3\n"
            "[observation]\ny = \"normal(x, 0.5)\"\nz = \"normal(v, 0.4)\"\nu = \"normal(w, 0.5)\"\n",
        "pairs.toml");
  };
  const Model separated = model("sin(x - v') + x'*sin(x - w')");
  const std::string t = "tan((x - v')/2)", u = "tan((x - w')/2)";
  const Model pairwise = model("2*" + t + "/(1 + " + t + "^2) + x'*(2*" + u + "/(1 + " + u + "^2))");
  const Data data = three_columns(separated);
  for (const int level : {1, 4}) {
    const QuadratureValue a = Quadrature({separated, data}, level).value({{0.8, 0.5}}),
                          b = Quadrature({pairwise, data}, level).value({{0.8, 0.5}});
    EXPECT_EQ(a.pairs, 0);
    EXPECT_GT(b.pairs, 0);
    EXPECT_NEAR(a.loglik, b.loglik, 1e-10);
    EXPECT_LT((a.gradient - b.gradient).norm(), 1e-9 * a.gradient.norm());
    EXPECT_LT((a.hessian - b.hessian).norm(), 1e-8 * a.hessian.norm());
  }
}

// Two kinds, noise of several sources, a component that is observed twice and one never: against the Kalman engine.
TEST(Block, LinearModelsAgreeWithTheKalmanEngine) {
  const Model model = parse_model(
      "[state]\nx = \"normal(1, 0.3)\"\nv = \"normal(1, 0.3)\"\nw = 0.2\n[parameters]\na = 0.8\nb = 0.5\nr = 0.6\n"
      "[interaction]\nm = \"x' + v'\"\nn = \"w'\"\n"
      "[drift]\nx = \"a*(n - x) + 0.1*m\"\nv = \"a*(n - v) + 0.1*m\"\nw = \"b*m - w\"\n"
      "[diffusion]\nx = [\"0.3\", \"0.4\", \"0\"]\nv = [\"-0.4\", \"0.3\", \"0\"]\nw = [\"0\", \"0\", \"0.6\"]\n"
      "[observation]\ny = \"normal(x, 0.5)\"\nz = \"normal(2*x, r)\"\nu = \"normal(w, r)\"\n",
      "linear.toml");
  const Problem problem(model, three_columns(model));
  const auto kalman = make_engine("kalman", problem), quadrature = make_engine("quadrature", problem);
  const std::vector<double> theta{0.8, 0.5, 0.6};
  for (const int level : {0, 2, 4}) {
    SCOPED_TRACE(level);
    const Request request{.effort = {.level = level}, .predictions = true};
    const Outcome exact = kalman->at(theta, Order::information, {}, request),
                  found = quadrature->at(theta, Order::information, {}, request);
    ASSERT_TRUE(exact && found);
    EXPECT_NEAR(found->loglik, exact->loglik, 1e-9);
    EXPECT_LT((as_vector(found->gradient) - as_vector(exact->gradient)).norm(), 1e-7);
    EXPECT_LT((as_vector(found->information) - as_vector(exact->information)).norm(), 1e-6);
    ASSERT_EQ(found->prediction_errors.size(), exact->prediction_errors.size());
    for (std::size_t i = 0; i < exact->prediction_errors.size(); ++i) {
      EXPECT_EQ(std::isnan(found->prediction_errors[i]), std::isnan(exact->prediction_errors[i])) << i;
      if (std::isnan(exact->prediction_errors[i])) continue;
      EXPECT_NEAR(found->prediction_errors[i], exact->prediction_errors[i], 1e-8) << i;
    }
    const auto states = quadrature->states(Law(theta), request), known = kalman->states(Law(theta), request);
    ASSERT_TRUE(states && *states && known && *known);
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t row = 0; row < problem.data().series[s].times.size(); ++row) {
          EXPECT_NEAR((**states)[s][c][row].mean, (**known)[s][c][row].mean, 1e-7);
          EXPECT_NEAR((**states)[s][c][row].sd, (**known)[s][c][row].sd, 1e-7);
          EXPECT_NEAR((**states)[s][c][row].q95, (**known)[s][c][row].q95, 1e-4 * (**known)[s][c][row].sd);
        }
  }
}

// 64 values of log p̂ by 512 particles: their mean has an error of about 0.013, and log p̂ a bias of half its variance.
TEST(Block, ParticlesAgree) {
  const Model model = tests::shipped("neural", {{"d", 3}});
  const Problem problem(model, three_columns(model));
  const std::vector<double> theta{0.9, 0.4};
  const double exact =
      make_engine("quadrature", problem)->at(theta, Order::value, {}, {.effort = {.level = 2}})->loglik;
  const auto particles = make_engine("particles", problem);
  const Request request{.effort = {.level = 2, .particles = 512, .law_particles = 4096}};
  constexpr std::size_t kRuns = 64;
  VectorXd values(kRuns);
  for (std::uint32_t i = 0; i < kRuns; ++i)
    values(i) = particles->at(theta, Order::value, {.seed = 7, .index = i}, request)->loglik;
  const double variance = (values.array() - values.mean()).square().sum() / (kRuns - 1);
  // False alarms: 1 in 10⁴.
  tests::expect_close({values.mean() + variance / 2, std::sqrt(variance / kRuns)}, exact, 0.017);
}

// A hundred equal components cost no more than 110 filters of one and one law. Work is counted, not timed.
TEST(Block, AHundredComponentsCostAHundredFilters) {
  const auto work = [](const Model& model, std::size_t series) {
    Data data{"work.csv", model.columns(), {}};
    for (std::size_t s = 0; s < series; ++s) {
      data.series.push_back({std::to_string(s), {1, 2, 3}, {}, {1, 2, 3}});
      for (std::size_t i = 0; i < 3 * model.columns().size(); ++i)
        data.series.back().values.push_back(0.6 + 0.1 * std::sin(static_cast<double>(i)));
    }
    const QuadratureEngine engine({model, data});
    return engine.at({{0.5, 0.35}}, Order::value, {}, {.effort = {.level = 4}})->work;
  };
  const Model one = tests::shipped("neural", {{"d", 1}}), hundred = tests::shipped("neural", {{"d", 100}});
  const double filter = work(one, 2) - work(one, 1), law = work(one, 1) - filter;
  EXPECT_GT(law, 0);
  EXPECT_LT(work(hundred, 1), 110 * filter + law);
  EXPECT_GT(work(hundred, 1), 90 * filter + law);
}

TEST(Block, WhatMeetsOutsideTheLawIsRefused) {
  const auto why = [](const Model& model) {
    return QuadratureEngine::refuses({model, {"", model.columns(), {}}}).value_or("");
  };
  EXPECT_EQ(why(tests::shipped("neural")), "");
  EXPECT_NE(why(tests::shipped("fitzhugh-nagumo")).find("'v' and 'w' meet"), std::string::npos)
      << why(tests::shipped("fitzhugh-nagumo"));
  const Model joint = parse_model(
      "[state]\nx = 0\nv = 0\n[parameters]\na = 1\n[interaction]\nk = \"tanh(x' + v')\"\n"
      "[drift]\nx = \"a*k - x\"\nv = \"-v\"\n[diffusion]\nx = 1\nv = 1\n[observation]\ny = \"normal(x, 1)\"\n",
      "joint.toml");
  EXPECT_NE(why(joint).find("the interaction 'k' is an average over several components"), std::string::npos);
}
}  // namespace
