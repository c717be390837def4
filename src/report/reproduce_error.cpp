#include "report/reproduce_error.hpp"

#include <algorithm>
#include <cmath>

#include "noise/noise.hpp"

namespace mckean {
namespace {

constexpr std::uint32_t kResamples = 2000;

// Sum and sum of squares of the means of the blocks of one repetition.
struct Sums {
  double first = 0, second = 0;
};

Sums block_sums(std::span<const double> repetition, std::size_t size) {
  Sums out;
  for (std::size_t at = 0; at < repetition.size(); at += size) {
    const double mean = mean_of(repetition.subspan(at, size));
    out.first += mean, out.second += mean * mean;
  }
  return out;
}

std::size_t draw(const Stream& stream, std::uint32_t index, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(uniform(stream, 0, index) * static_cast<double>(count)));
}
}  // namespace

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values) {
  const double mean = mean_of(values), n = static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / (n - 1) / n);
}

std::vector<ErrorPoint> error_curve(std::span<const double> values, std::size_t least, std::size_t most, double truth,
                                    double cost) {
  std::vector<ErrorPoint> out;
  for (std::size_t size = least; size <= most; size *= 2) {
    ErrorPoint point{size, values.size() / size, cost * static_cast<double>(size), 0};
    for (std::size_t at = 0; at < values.size(); at += size) {
      const double error = mean_of(values.subspan(at, size)) - truth;
      point.mse += error * error / static_cast<double>(point.blocks);
    }
    out.push_back(point);
  }
  return out;
}

Slope fitted_slope(std::span<const ErrorPoint> points) {
  const double n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const ErrorPoint& p : points) {
    const double a = std::log(static_cast<double>(p.replicates)), b = std::log(p.mse);
    x += a / n, y += b / n, xx += a * a / n, xy += a * b / n;
  }
  const double slope = (xy - x * y) / (xx - x * x);
  return {slope, y - slope * x, slope, slope};
}

Slope slope_with_interval(std::span<const double> values, std::size_t least, std::size_t most,
                          std::span<const double> reference, std::uint64_t seed) {
  std::vector<ErrorPoint> points = error_curve(values, least, most, mean_of(reference), 1);
  Slope out = fitted_slope(points);
  const std::size_t repetitions = values.size() / most;
  std::vector<std::vector<Sums>> sums(points.size());
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t r = 0; r < repetitions; ++r)
      sums[k].push_back(block_sums(values.subspan(r * most, most), points[k].replicates));

  std::vector<double> slopes;
  for (std::uint32_t b = 0; b < kResamples; ++b) {
    const Stream stream(seed, b, 0, Purpose::data);
    std::uint32_t next = 0;
    double truth = 0;
    for (std::size_t i = 0; i < reference.size(); ++i)
      truth += reference[draw(stream, next++, reference.size())] / static_cast<double>(reference.size());
    std::vector<Sums> total(points.size());
    for (std::size_t i = 0; i < repetitions; ++i) {
      const std::size_t r = draw(stream, next++, repetitions);
      for (std::size_t k = 0; k < points.size(); ++k)
        total[k].first += sums[k][r].first, total[k].second += sums[k][r].second;
    }
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double n = static_cast<double>(points[k].blocks);
      points[k].mse = (total[k].second - 2 * truth * total[k].first) / n + truth * truth;
    }
    slopes.push_back(fitted_slope(points).value);
  }
  std::ranges::sort(slopes);
  out.lower = slopes[kResamples / 40], out.upper = slopes[kResamples - 1 - kResamples / 40];
  return out;
}
}  // namespace mckean
