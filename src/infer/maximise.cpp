#include "infer/maximise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "infer/unconstrained_point.hpp"
#include "mckean/error.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFlat = 1e-9;  // eigenvalues of the scaled information below this share of the largest are taken for 0
constexpr double kLeastTemper = 1e-5;
constexpr int kTemperedSteps = 20;
constexpr int kMostRefusals = 5;  // halvings of a step after which steps of Euler that are too long are in the way

// The quadratic model around a point: −D H D = V Λ Vᵀ with D such that its diagonal is ±1.
class Quadratic {
 public:
  explicit Quadratic(const UnconstrainedPoint& point) : scale_(point.u.size()) {
    for (Eigen::Index i = 0; i < scale_.size(); ++i) {
      const double h = std::abs(point.hessian(i, i));
      scale_(i) = h > 0 ? 1 / std::sqrt(h) : 1;
    }
    const MatrixXd scaled = -(scale_.asDiagonal() * point.hessian * scale_.asDiagonal());
    eigen_ = spectrum(scaled);
    slope_ = eigen_.vectors.transpose() * scale_.cwiseProduct(point.gradient);
    floor_ = kFlat * eigen_.values.cwiseAbs().maxCoeff();
  }

  // |H|⁻¹ g: Newton's step where H is negative definite, uphill everywhere; nothing along flat directions.
  VectorXd step() const {
    VectorXd out = VectorXd::Zero(slope_.size());
    for (Eigen::Index i = 0; i < out.size(); ++i)
      if (!flat(i)) out(i) = slope_(i) / std::abs(eigen_.values(i));
    return scale_.cwiseProduct(eigen_.vectors * out);
  }

  // The length of that step in standard errors.
  double length() const {
    double sum = 0;
    for (Eigen::Index i = 0; i < slope_.size(); ++i)
      if (!flat(i)) sum += slope_(i) * slope_(i) / std::abs(eigen_.values(i));
    return std::sqrt(sum);
  }

  bool concave() const { return eigen_.values.size() == 0 || eigen_.values.minCoeff() > floor_; }
  bool singular() const { return !concave() && eigen_.values.minCoeff() >= -floor_; }
  VectorXd weakest() const { return scale_.cwiseProduct(eigen_.vectors.col(0)).normalized(); }  // eigenvalues ascend

 private:
  bool flat(Eigen::Index i) const { return std::abs(eigen_.values(i)) <= floor_; }

  VectorXd scale_, slope_;
  Spectrum eigen_;
  double floor_;
};

class Newton {
 public:
  Newton(const Engine& engine, const std::vector<double>& start, const MaximiseOptions& options)
      : engine_(engine), options_(options), start_(start) {
    check_start();
  }

  // From a start that the observations contradict, first to the maximum of a tempered likelihood, and on from there.
  Result<Maximum> run() {
    VectorXd u = unconstrained(engine_.parameters(), start_);
    while (temper_ > kLeastTemper && !plausible()) temper_ /= 4;
    for (; temper_ < 1; temper_ *= 4) {
      if (const auto failed = begin(u)) return *failed;
      for (int i = 0; i < kTemperedSteps && Quadratic(here_).length() > 0.1; ++i, ++best_.iterations)
        if (!climb(Quadratic(here_).step())) break;
      u = here_.u;
    }
    best_.message.clear();
    if (const auto failed = begin(u)) return *failed;
    while (!finished(Quadratic(here_)) && climb(Quadratic(here_).step())) ++best_.iterations;
    if (pinned_) return *pinned_;
    best_.theta = here_.theta;
    best_.loglik = here_.loglik;
    best_.information = here_.information;
    return best_;
  }

 private:
  void check_start() const {
    for (std::size_t p = 0; p < start_.size(); ++p) {
      const Parameter& parameter = engine_.parameters()[p];
      if (!(start_[p] >= parameter.lower && start_[p] <= parameter.upper))
        throw InputError(fmt::format("the start of '{}' is {}, which is not between its bounds {} and {}",
                                     parameter.name, start_[p], parameter.lower, parameter.upper));
    }
  }

  Request request() const {
    Request out = options_.request;
    out.effort.temper *= temper_;
    return out;
  }

  bool plausible() const {
    Request r = request();
    r.accepts_implausible = false;
    const Outcome at = engine_.at(start_, Order::value, {}, r);
    return at || at.failure().code != Failure::Code::implausible;
  }

  std::optional<Failure> begin(const VectorXd& u) {
    const auto at = evaluate(u);
    if (!at) return at.failure();
    here_ = *at;
    return {};
  }

  bool finished(const Quadratic& quadratic) {
    best_.at_bound = active_bound(quadratic.step());
    if (best_.at_bound) return stop(bound_text(*best_.at_bound));
    if (quadratic.length() < options_.tolerance) {
      best_.flat = quadratic.singular();
      if (best_.flat)
        return stop("the information is singular: the likelihood does not change along " +
                    direction(quadratic.weakest()));
      if (!quadratic.concave())
        return stop("the likelihood has a saddle here: it grows in both directions along " +
                    direction(quadratic.weakest()) + "; start elsewhere");
      return best_.converged = true;
    }
    if (best_.iterations < options_.most_iterations) return false;
    return stop(fmt::format("no convergence after {} iterations: the last step is {:.2g} standard errors long",
                            best_.iterations, quadratic.length()));
  }

  bool stop(std::string message) {
    best_.message = std::move(message);
    return true;
  }

  // Halves the step until the likelihood grows as much as its slope promises, up to rounding.
  bool climb(VectorXd step) {
    for (Eigen::Index i = 0; i < step.size(); ++i)  // no further than doubles the parameter
      step *= std::min(1.0, std::max(1.0, std::abs(here_.u(i))) / std::max(std::abs(step(i)), 1e-300));
    const double noise = 1e-11 * (1 + std::abs(here_.loglik));
    for (int halving = 0; halving < 50; ++halving, step *= 0.5) {
      const auto there = evaluate(here_.u + step);
      if (!there && there.failure().code == Failure::Code::too_coarse && halving == kMostRefusals) {
        pinned_ = there.failure();
        return false;
      }
      const double promised = 1e-4 * here_.gradient.dot(step);
      if (!there || there->loglik < here_.loglik + promised - noise) continue;
      here_ = *there;
      return true;
    }
    stop("no step increases the likelihood: it is not smooth here, or its derivatives are not accurate");
    return false;
  }

  Result<UnconstrainedPoint> evaluate(const VectorXd& u) {
    const auto found = evaluate_unconstrained(engine_, u, request());
    if (!found) return found.failure();
    UnconstrainedPoint point = *found;
    best_.work += point.work;
    for (const std::size_t p : options_.held) {  // as if the likelihood were highest here, so that no step moves it
      const auto held = static_cast<Eigen::Index>(p);
      point.gradient(held) = 0;
      point.hessian.row(held).setZero(), point.hessian.col(held).setZero();
      point.hessian(held, held) = -1;
    }
    return point;
  }

  // In unconstrained coordinates a maximum at a bound lies at infinity: the step stays long, while what is left to gain
  // vanishes.
  std::optional<std::size_t> active_bound(const VectorXd& step) const {
    for (Eigen::Index i = 0; i < step.size(); ++i) {
      const Parameter& p = engine_.parameters()[static_cast<std::size_t>(i)];
      if (!std::isfinite(p.lower) && !std::isfinite(p.upper)) continue;
      if (std::abs(step(i)) >= 0.5 && std::abs(here_.gradient(i)) <= 1e-6) return static_cast<std::size_t>(i);
    }
    return {};
  }

  std::string bound_text(std::size_t i) const {
    const Parameter& p = engine_.parameters()[i];
    const bool low = std::abs(here_.theta[i] - p.lower) < std::abs(here_.theta[i] - p.upper);
    return fmt::format("'{}' runs into its bound {}; fix it there, or move the bound", p.name, low ? p.lower : p.upper);
  }

  std::string direction(const VectorXd& v) const {
    std::string text;
    for (Eigen::Index i = 0; i < v.size(); ++i)
      text += fmt::format("{}{} {:.3g}", i ? ", " : "(", engine_.parameters()[static_cast<std::size_t>(i)].name, v(i));
    return text + ")";
  }

  const Engine& engine_;
  MaximiseOptions options_;
  std::vector<double> start_;
  double temper_ = 1;
  UnconstrainedPoint here_;
  Maximum best_;
  std::optional<Failure> pinned_;  // why no step leads on: this level has no likelihood there
};
}  // namespace

VectorXd Maximum::standard_errors() const {
  const auto covariance = inverse_if_positive(information, kFlat);
  return covariance ? VectorXd(covariance->diagonal().cwiseSqrt()) : VectorXd();
}

Result<Maximum> maximise(const Engine& engine, const std::vector<double>& start, const MaximiseOptions& options) {
  return Newton(engine, start, options).run();
}
}  // namespace mckean
