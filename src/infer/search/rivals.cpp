#include "infer/search/rivals.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mckean::search {

using Eigen::Index, Eigen::VectorXd;

namespace {

constexpr std::size_t kFew = 2, kDraws = 12;
constexpr double kDepth = 0.3;  // log units, beyond errors, of a valley
constexpr double kSure = 3;     // standard errors
constexpr double kAway = 2;     // standard errors from 0 at which a change of sign leads elsewhere

double error_of(const Moments& m) { return std::sqrt(m.variance / static_cast<double>(m.found)); }

// Of one or two parameters without bounds that are not near 0, the changed sign.
std::vector<VectorXd> changes_of_sign(const Box& box, const Fit& fit) {
  std::vector<Index> free;
  for (Index i = 0; i < box.size(); ++i) {
    const double far = kAway * std::sqrt(fit.covariance(i, i));
    if (!std::isfinite(box.lower[i]) && !std::isfinite(box.upper[i]) && std::abs(fit.top.z[i]) > far) free.push_back(i);
  }
  std::vector<VectorXd> out;
  for (std::size_t a = 0; a < free.size(); ++a)
    for (std::size_t b = a; b < free.size(); ++b) {
      out.push_back(fit.top.z);
      for (const Index i : {free[a], free[b]}) out.back()[i] = -fit.top.z[i];
    }
  return out;
}
}  // namespace

bool valley_between(Evaluations& evaluate, const Box& box, const VectorXd& a, const VectorXd& b, const Effort& effort,
                    double lower, const std::string& name) {
  for (const double share : {0.5, 0.25, 0.75}) {
    const VectorXd z = a + share * (b - a);
    const Moments m = moments(evaluate(fmt::format("{} {}", name, share), {box.theta(z), effort}, kDraws));
    if (m.found < kDraws || m.mean + kSure * error_of(m) < lower - kDepth) return true;
  }
  return false;
}

std::vector<LocalMaximum> mirrored(Evaluations& evaluate, const Box& box, const Rounds& rounds, double comparable) {
  const Fit& fit = *rounds.fit();
  const double top = fit.top.value, noise = std::max(rounds.noise(), 0.05);
  std::vector<LocalMaximum> out;
  const auto places = changes_of_sign(box, fit);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::vector<double> theta = box.theta(places[k]);
    const auto look = [&](const char* how, std::size_t draws) {
      return moments(evaluate(fmt::format("mirrored {} {}", how, k), {theta, rounds.effort()}, draws));
    };
    const Moments rough = look("roughly", kFew);
    if (rough.found < kFew || rough.mean < top - comparable - kSure * noise) continue;
    const Moments there = look("closely", kDraws);
    if (there.found < kDraws || there.mean < top - comparable) continue;
    const auto name = fmt::format("mirrored way {}", k);
    if (valley_between(evaluate, box, fit.top.z, places[k], rounds.effort(), std::min(top, there.mean), name))
      out.push_back({theta, there.mean});
  }
  return out;
}
}  // namespace mckean::search
