#include "engine/extrapolation.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace mckean {
namespace {

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
  out.apart = std::abs(levels[weights.size() - 1].loglik - levels[weights.size() - 2].loglik);
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

Failure of_coarse_level(Failure why) {
  if (why.code != Failure::Code::implausible) why.code = Failure::Code::too_coarse;
  return why;
}

Failure too_far_apart(double apart) {
  return {Failure::Code::too_coarse,
          fmt::format("the log-likelihood moves by {:.3g} when steps of time are halved", apart)};
}
}  // namespace mckean
