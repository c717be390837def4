#include "infer/law_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mckean {
namespace {

constexpr double kNothing = 1e-9;  // share of a mean's size below which a standard deviation is rounding
constexpr double kClear = 4;       // standard errors beyond which a change among many is no chance

// Mean and variance over laws of what `value` says of each.
struct Sample {
  double mean = 0, variance = 0;
};
template <class Value>
Sample sample(std::size_t laws, Value&& value) {
  const auto n = static_cast<double>(laws);
  Sample out;
  for (std::size_t r = 0; r < laws; ++r) out.mean += value(r) / n;
  for (std::size_t r = 0; r < laws; ++r) out.variance += std::pow(value(r) - out.mean, 2) / (n - 1);
  return out;
}

// The largest root mean square over times of a component.
template <class Square>
double largest(std::size_t components, std::size_t places, Square&& square) {
  const std::size_t times = places / components;
  double out = 0;
  for (std::size_t c = 0; c < components; ++c) {
    double sum = 0;
    for (std::size_t i = c * times; i < (c + 1) * times; ++i) sum += square(i);
    if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
    out = std::max(out, sum / static_cast<double>(times));
  }
  return std::sqrt(out);
}
}  // namespace

std::vector<double> law_scales(std::span<const LawPairTrack> pairs, std::size_t components) {
  const std::size_t places = pairs[0].fine.mean.size(), times = places / components;
  std::vector<double> out(places);
  for (std::size_t c = 0; c < components; ++c) {
    double squares = 0;
    for (std::size_t i = c * times; i < (c + 1) * times; ++i) {
      out[i] = std::sqrt(sample(pairs.size(), [&](std::size_t r) { return pairs[r].fine.variance[i]; }).mean);
      squares += std::pow(sample(pairs.size(), [&](std::size_t r) { return pairs[r].fine.mean[i]; }).mean, 2);
    }
    const double size = std::sqrt(squares / static_cast<double>(times));
    for (std::size_t i = c * times; i < (c + 1) * times; ++i)
      if (out[i] <= kNothing * size) out[i] = size > 0 ? size : 1;
  }
  return out;
}

LawChange change_by_steps(std::span<const LawPairTrack> pairs, std::span<const double> scale, std::size_t components) {
  const auto laws = static_cast<double>(pairs.size());
  std::vector<Sample> means, spreads;
  LawChange out;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const auto moved = [&](auto&& value) {
      const Sample change = sample(
          pairs.size(), [&](std::size_t r) { return (value(pairs[r].fine) - value(pairs[r].coarse)) / scale[i]; });
      out.clearly = std::max(out.clearly, std::abs(change.mean) - kClear * std::sqrt(change.variance / laws));
      return change;
    };
    means.push_back(moved([&](const LawTrack& t) { return t.mean[i]; }));
    spreads.push_back(moved([&](const LawTrack& t) { return std::sqrt(t.variance[i]); }));
  }
  const auto over = [&](auto&& square) { return largest(components, scale.size(), square); };
  out.error = over([&](std::size_t i) { return means[i].variance / laws; });
  out.value =
      std::max(over([&](std::size_t i) { return means[i].mean * means[i].mean; }),
               over([&](std::size_t i) { return spreads[i].mean * spreads[i].mean - spreads[i].variance / laws; }));
  return out;
}

double chance_of_means(std::span<const LawTrack> laws, std::span<const double> scale, std::size_t components) {
  return largest(components, scale.size(), [&](std::size_t i) {
    return sample(laws.size(), [&](std::size_t r) { return laws[r].mean[i]; }).variance / (scale[i] * scale[i]);
  });
}
}  // namespace mckean
