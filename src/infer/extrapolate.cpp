#include "infer/extrapolate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "infer/richardson.hpp"
#include "model/symmetric.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int kLevels = kRichardsonLevels;
constexpr double kAgree = 2e-3;  // standard errors between extrapolations from l and l + 1 that makes them equal
constexpr double kLast = 0.02;   // length of Newton's step, in standard errors, after which no other is needed
constexpr double kNear = 0.05;   // from which on levels are compared
constexpr double kLongest = 1;   // that may be taken
constexpr int kMostSteps = 6;

class Extrapolation {
 public:
  Extrapolation(ExactTasks& tasks, const ExactMaximum& from, const ExtrapolateOptions& options)
      : tasks_(tasks),
        options_(options),
        theta_(VectorXd::Map(from.theta.data(), static_cast<Index>(from.theta.size()))) {}

  std::optional<ExtrapolatedMaximum> run() {
    int lowest = options_.lowest;
    bool near = false;
    for (int i = 0; i < kMostSteps; ++i) {
      known_.clear();
      take(lowest, lowest + kLevels);
      if (!without_coarse(lowest)) return {};
      near = near || length(newton(lowest + 1), lowest + 1) < kNear;
      while (near && doubt(lowest) > kAgree && lowest + kLevels < options_.highest &&
             tasks_.affordable(lowest + kLevels + 1) && take(lowest + kLevels + 1, lowest + kLevels + 1))
        ++lowest;
      const VectorXd step = newton(lowest + 1);
      if (!(length(step, lowest + 1) < kLongest)) return {};
      const bool last = length(step, lowest + 1) < kLast;
      theta_ += step;
      for (Index p = 0; p < theta_.size(); ++p)
        if (!tasks_.engine().parameters()[static_cast<std::size_t>(p)].admits(theta_[p])) return {};
      if (near && last) return result(lowest, step);
    }
    return {};
  }

 private:
  // Evaluates levels at θ, in parallel; false where one of them has no likelihood.
  bool take(int first, int last) {
    const std::vector<double> theta(theta_.begin(), theta_.end());
    std::vector<int> levels;
    for (int l = last; l >= first; --l) levels.push_back(l);  // the dearest first
    const auto found = tasks_.evaluate("extrapolation", levels, theta);
    bool all = true;
    for (std::size_t i = 0; i < levels.size(); ++i)
      if (found[i].found())
        known_[levels[i]] = found[i];
      else
        all = false;
    return all;
  }

  // Moves on to finer levels where the coarsest have no likelihood.
  bool without_coarse(int& lowest) {
    const int highest = lowest + kLevels;
    for (int l = lowest; l <= highest; ++l)
      if (!known_.contains(l)) lowest = l + 1;
    if (lowest + kLevels > options_.highest) return known_.size() > kLevels;
    return lowest + kLevels == highest || take(highest + 1, lowest + kLevels);
  }

  template <class Part>
  auto combined(int lowest, Part&& part) const {
    auto out = (kRichardson[0] * part(known_.at(lowest))).eval();
    for (int l = 1; l < kLevels; ++l) out += kRichardson[l] * part(known_.at(lowest + l));
    return out;
  }
  VectorXd gradient(int lowest) const {
    VectorXd out = combined(lowest, [](const ExactValue& v) -> const VectorXd& { return v.gradient; });
    for (const std::size_t p : options_.held) out[static_cast<Index>(p)] = 0;
    return out;
  }
  MatrixXd information(int lowest) const {
    MatrixXd out = combined(lowest, [](const ExactValue& v) -> const MatrixXd& { return v.information; });
    for (const std::size_t p : options_.held) {
      const auto i = static_cast<Index>(p);
      out.row(i).setZero(), out.col(i).setZero(), out(i, i) = 1;
    }
    return out;
  }
  VectorXd newton(int lowest) const { return pseudo_inverse(information(lowest)) * gradient(lowest); }
  double length(const VectorXd& step, int lowest) const {
    return std::sqrt(std::max(0.0, step.dot(information(lowest) * step)));
  }
  double doubt(int lowest) const { return length(newton(lowest) - newton(lowest + 1), lowest + 1); }

  // After a step that is so short that the parabola before it tells the value there.
  ExtrapolatedMaximum result(int lowest, const VectorXd& step) const {
    ExtrapolatedMaximum out;
    out.maximum.theta.assign(theta_.begin(), theta_.end());
    for (int l = 0; l < kLevels; ++l) out.maximum.loglik += kRichardson[l] * known_.at(lowest + 1 + l).loglik;
    out.maximum.loglik += gradient(lowest + 1).dot(step) / 2;
    out.maximum.information =
        combined(lowest + 1, [](const ExactValue& v) -> const MatrixXd& { return v.information; });
    out.maximum.gradient = combined(lowest + 1, [](const ExactValue& v) -> const VectorXd& { return v.gradient; });
    out.maximum.gradient -= out.maximum.information * step;
    out.maximum.at_bound = options_.held;
    out.maximum.converged = true;
    out.lowest = lowest + 1, out.highest = lowest + kLevels;
    out.doubt = doubt(lowest);
    return out;
  }

  ExactTasks& tasks_;
  const ExtrapolateOptions& options_;
  VectorXd theta_;
  std::map<int, ExactValue> known_;  // by level
};
}  // namespace

std::optional<ExtrapolatedMaximum> extrapolate(ExactTasks& tasks, const ExactMaximum& from,
                                               const ExtrapolateOptions& options) {
  return Extrapolation(tasks, from, options).run();
}
}  // namespace mckean
