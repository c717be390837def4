#include "engine/extrapolation.hpp"

#include <array>

namespace mckean {
namespace {

constexpr int kMostPassed = 6;  // coarse levels without a likelihood

void add(std::vector<double>& to, double weight, const std::vector<double>& from) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += weight * from[i];
}
}  // namespace

std::span<const double> extrapolation_weights(Scheme scheme) {
  static constexpr std::array euler{1.0 / 3, -2.0, 8.0 / 3};
  static constexpr std::array splitting{-1.0 / 3, 4.0 / 3};
  if (scheme == Scheme::euler) return euler;
  return splitting;
}

double extrapolation_gain(Scheme scheme) { return scheme == Scheme::euler ? 4 : 8; }

Evaluation extrapolated(std::span<const Evaluation> levels, Scheme scheme) {
  Evaluation out;
  const auto weights = extrapolation_weights(scheme);
  for (std::size_t l = 0; l < weights.size(); ++l) {
    out.loglik += weights[l] * levels[l].loglik;
    add(out.gradient, weights[l], levels[l].gradient);
    add(out.information, weights[l], levels[l].information);
    out.work += levels[l].work;
  }
  out.prediction_errors = levels[weights.size() - 1].prediction_errors;
  return out;
}

States extrapolated(std::span<const States> levels, Scheme scheme) {
  States out = levels[0];
  const auto weights = extrapolation_weights(scheme);
  for (std::size_t s = 0; s < out.size(); ++s)
    for (std::size_t c = 0; c < out[s].size(); ++c)
      for (std::size_t row = 0; row < out[s][c].size(); ++row)
        for (double Smoothed::*v : {&Smoothed::mean, &Smoothed::sd, &Smoothed::q05, &Smoothed::q50, &Smoothed::q95}) {
          double sum = 0;
          for (std::size_t l = 0; l < weights.size(); ++l) sum += weights[l] * (levels[l][s][c][row].*v);
          out[s][c][row].*v = sum;
        }
  return out;
}

template <class T>
Result<LevelValues<T>> values_of_levels(const Effort& effort, const std::function<Result<T>(const Effort&)>& at) {
  const std::size_t needed = extrapolation_weights(effort.scheme).size();
  LevelValues<T> out{{}, effort.level};
  Effort level = effort;
  level.extrapolated = false;
  for (; out.values.size() < needed; ++level.level) {
    const Result<T> found = at(level);
    if (found) {
      out.values.push_back(*found);
      continue;
    }
    if (found.failure().code == Failure::Code::implausible || level.level - effort.level >= kMostPassed)
      return found.failure();
    out.values.clear();
    out.lowest = level.level + 1;
  }
  return out;
}
template Result<LevelValues<Evaluation>> values_of_levels(const Effort&,
                                                          const std::function<Result<Evaluation>(const Effort&)>&);
template Result<LevelValues<States>> values_of_levels(const Effort&,
                                                      const std::function<Result<States>(const Effort&)>&);
}  // namespace mckean
