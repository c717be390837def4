// The exact maximum-likelihood estimate of a benchmark case at an Euler level, by the oracles of the tests:
//   mckean_exact FAMILY DATA --level 4 --free kappa=1,mu=7 --fixed beta=1,R=1,s=1
// prints estimate, standard errors and log-likelihood as JSON. The free parameters start at the given values.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "mckean/data.hpp"
#include "oracle/examples.hpp"

namespace {

using Values = std::map<std::string, double>;

oracle::Kuramoto kuramoto(const Values& v) {
  return {.theta = v.at("theta"), .K = v.at("K"), .sigma = v.at("sigma"), .tau = v.at("tau"), .x0 = v.at("x0")};
}

oracle::Neural neural(const Values& v) {
  return {.alpha = v.at("alpha"),
          .beta = v.at("beta"),
          .w = v.at("w"),
          .b = v.at("b"),
          .sigma = v.at("sigma"),
          .tau = v.at("tau"),
          .x0 = v.at("x0")};
}

oracle::OrnsteinUhlenbeck ornstein_uhlenbeck(const Values& v) {
  return {.kappa = v.at("kappa"), .mu = v.at("mu"), .beta = v.at("beta"), .R = v.at("R"), .s = v.at("s")};
}

// dx = [-a x + w z + g (E x - x)] dt + s dW,  dz = [-w x - a z] dt + s dW',  y = x + N(0, tau^2).
oracle::LinearModel linear_2d(const Values& v) {
  const double a = v.at("a"), w = v.at("w"), g = v.at("g");
  oracle::LinearModel model;
  model.A = Eigen::Matrix2d{{-a - g, w}, {-w, -a}};
  model.B = Eigen::Matrix2d{{g, 0}, {0, 0}};
  model.c = Eigen::Vector2d::Zero();
  model.S = v.at("s") * Eigen::Matrix2d::Identity();
  model.m0 = Eigen::Vector2d(3, 0);
  model.P0 = Eigen::Matrix2d::Zero();
  model.H = Eigen::RowVector2d(1, 0);
  model.R = Eigen::VectorXd::Constant(1, v.at("tau") * v.at("tau"));
  return model;
}

// dx = v dt,  dv = (-k x - g v) dt + s dW,  y = x + N(0, tau^2), from (2, 0).
oracle::LinearModel oscillator(const Values& v) {
  oracle::LinearModel model;
  model.A = Eigen::Matrix2d{{0, 1}, {-v.at("k"), -v.at("g")}};
  model.B = Eigen::Matrix2d::Zero();
  model.c = Eigen::Vector2d::Zero();
  model.S = Eigen::Matrix2d{{0, 0}, {0, v.at("s")}};
  model.m0 = Eigen::Vector2d(2, 0);
  model.P0 = Eigen::Matrix2d::Zero();
  model.H = Eigen::RowVector2d(1, 0);
  model.R = Eigen::VectorXd::Constant(1, v.at("tau") * v.at("tau"));
  return model;
}

// "a=1,b=2" in the order given.
std::vector<std::pair<std::string, double>> parse(const std::vector<std::string>& assignments) {
  std::vector<std::pair<std::string, double>> values;
  for (const std::string& text : assignments) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("not name=value: " + text);
    values.emplace_back(text.substr(0, equals), std::stod(text.substr(equals + 1)));
  }
  return values;
}

struct Case {
  std::string family, data;
  std::vector<std::string> free, fixed;
  int level = 4;
};

oracle::Maximum mle(const Case& c) {
  const mckean::Data data = mckean::read_data(c.data, {"y"});
  const auto free = parse(c.free);
  const auto fixed = parse(c.fixed);
  Eigen::VectorXd start(static_cast<Eigen::Index>(free.size()));
  for (std::size_t i = 0; i < free.size(); ++i) start[static_cast<Eigen::Index>(i)] = free[i].second;
  const auto values = [&](const Eigen::VectorXd& theta) {
    Values v(fixed.begin(), fixed.end());
    for (std::size_t i = 0; i < free.size(); ++i) v[free[i].first] = theta[static_cast<Eigen::Index>(i)];
    return v;
  };
  const auto maximum = [&](const auto& model) {
    return oracle::mle([&](const Eigen::VectorXd& theta) { return model(values(theta)); }, start, data, c.level);
  };
  if (c.family == "kuramoto") return maximum([](const Values& v) { return oracle::kuramoto(kuramoto(v)); });
  if (c.family == "neural") return maximum([](const Values& v) { return oracle::neural(neural(v)); });
  if (c.family == "desai-zwanzig")
    return maximum([](const Values& v) { return oracle::desai_zwanzig({v.at("a"), v.at("theta")}); });
  if (c.family == "mean-field-ou")
    return maximum([](const Values& v) { return oracle::mean_field_ou(ornstein_uhlenbeck(v)); });
  if (c.family == "linear-2d") return maximum(linear_2d);
  if (c.family == "oscillator") return maximum(oscillator);
  throw std::invalid_argument("no such family: " + c.family);
}

void print(const Case& c, const oracle::Maximum& maximum) {
  nlohmann::ordered_json estimate;
  const auto free = parse(c.free);
  for (std::size_t i = 0; i < free.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    estimate[free[i].first] = {{"value", maximum.theta[k]}, {"std_error", maximum.standard_error[k]}};
  }
  const nlohmann::ordered_json result = {{"estimate", estimate},
                                         {"loglik", maximum.value},
                                         {"level", c.level},
                                         {"iterations", maximum.iterations},
                                         {"converged", maximum.converged}};
  std::cout << result.dump(2) << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  Case c;
  CLI::App app("exact maximum-likelihood estimates of the benchmark cases");
  app.add_option("FAMILY", c.family, "kuramoto, neural, desai-zwanzig, mean-field-ou, linear-2d or oscillator")
      ->required();
  app.add_option("DATA", c.data, "data file with the column y")->required();
  app.add_option("--free", c.free, "name=value,...: free parameters and their starts")->required()->delimiter(',');
  app.add_option("--fixed", c.fixed, "name=value,...: everything else")->delimiter(',');
  app.add_option("--level", c.level, "Euler level; -1: continuous time, of linear models")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const oracle::Maximum maximum = mle(c);
  print(c, maximum);
  return maximum.converged ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "mckean_exact: " << error.what() << '\n';
  return 2;
}
