// Mean squared error against the number of replicates, with the slope on log-log axes.
//
// Replicates are shared by all numbers M̄: the `most` replicates of a repetition are cut into blocks of M̄, and the mean
// of each block is an estimate. Blocks do not overlap, so estimates of one M̄ are independent; those of different M̄ are
// not, and the interval of the slope comes from drawing whole repetitions again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mckean {

struct ErrorPoint {
  std::size_t replicates = 0;  // M̄
  std::size_t blocks = 0;      // estimates whose squared errors are averaged
  double cost = 0;             // of M̄ replicates, on average
  double mse = 0;
};

// values: repetition after repetition, each of `most`. cost: of one replicate.
std::vector<ErrorPoint> error_curve(std::span<const double> values, std::size_t least, std::size_t most, double truth,
                                    double cost);

struct Slope {
  double value = 0, intercept = 0;  // log mse = intercept + value log M̄
  double lower = 0, upper = 0;      // 95 %
};
Slope fitted_slope(std::span<const ErrorPoint>);  // least squares; without an interval

// The interval by bootstrap: repetitions drawn again, and with them the replicates of the reference, whose mean takes
// the place of the truth.
Slope slope_with_interval(std::span<const double> values, std::size_t least, std::size_t most,
                          std::span<const double> reference, std::uint64_t seed);

double mean_of(std::span<const double>);
double standard_error(std::span<const double>);  // of the mean
}  // namespace mckean
