// An engine of one's own, from the sources of the project: a Brownian motion with drift μ, observed with noise, has a
// normal likelihood that can be written down. What is inferred needs no other change: here the maximum.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "infer/maximise.hpp"

using namespace mckean;
using Eigen::Index, Eigen::VectorXd;

class BrownianEngine : public Engine {
 public:
  BrownianEngine(const Problem& problem, double sigma, double tau) : problem_(problem), sigma_(sigma), tau_(tau) {}

  std::string_view name() const override { return "brownian"; }
  bool exact() const override { return true; }
  bool continuous() const override { return true; }
  Order serves() const override { return Order::information; }
  const std::vector<Parameter>& parameters() const override { return problem_.model().parameters(); }
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override {
    return std::make_shared<const Law>(theta);  // nothing to draw
  }

  // y ~ N(μ t, C) with C_ij = σ² min(t_i, t_j) + τ² [i = j].
  Outcome evaluate(const Law& at, Order, Draw, const Request&) const override {
    const Series& s = problem_.data().series[0];
    const auto n = static_cast<Index>(s.times.size());
    const VectorXd t = VectorXd::Map(s.times.data(), n), y = VectorXd::Map(s.values.data(), n);
    Eigen::MatrixXd C = tau_ * tau_ * Eigen::MatrixXd::Identity(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) C(i, j) += sigma_ * sigma_ * std::min(t[i], t[j]);
    const Eigen::LLT<Eigen::MatrixXd> root(C);
    if (root.info() != Eigen::Success) return Failure{Failure::Code::undefined, "the covariance is singular"};
    const VectorXd residual = y - at.theta()[0] * t, weighed = root.solve(residual);
    const double log_determinant = 2 * root.matrixLLT().diagonal().array().log().sum();
    Evaluation out;
    out.loglik =
        -(residual.dot(weighed) + log_determinant + static_cast<double>(n) * std::log(2 * std::numbers::pi)) / 2;
    out.gradient = {t.dot(weighed)};
    out.information = {t.dot(root.solve(t))};
    return out;
  }

 private:
  Problem problem_;
  double sigma_, tau_;
};

int main() {
  const Model model = parse_model(
      "[state]\nx = 0\n[parameters]\nmu = 0.1\n[drift]\nx = \"mu\"\n[diffusion]\nx = 0.8\n"
      "[observation]\ny = \"normal(x, 0.5)\"\n",
      "brownian.toml");
  const Problem problem(model, Data::of(std::vector{1.0, 2.0, 4.0, 5.5, 6.0}, std::vector{0.7, 1.9, 2.6, 4.4, 4.1}));
  const Request diffusion{.effort = {.level = kContinuous}};
  const auto mine = maximise(BrownianEngine(problem, 0.8, 0.5), {0.1}, {.request = diffusion});
  const auto shipped = maximise(*make_engine("kalman", problem), {0.1}, {.request = diffusion});
  std::printf("mine   mu = %.8f, log-likelihood %.8f\n", mine->theta[0], mine->loglik);
  std::printf("kalman mu = %.8f, log-likelihood %.8f\n", shipped->theta[0], shipped->loglik);
  return std::abs(mine->theta[0] - shipped->theta[0]) + std::abs(mine->loglik - shipped->loglik) < 1e-8 ? 0 : 1;
}
