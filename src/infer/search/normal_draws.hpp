// Normal variates for the points of a search: a pure function of a seed and their number.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "noise/noise.hpp"

namespace mckean::search {

class NormalDraws {
 public:
  explicit NormalDraws(std::uint64_t seed) : stream_(seed, 0, 0, Purpose::data) {}

  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform(stream_, at_, 0)));
    return radius * std::cos(2 * std::numbers::pi * uniform(stream_, at_++, 1));
  }
  Eigen::VectorXd next(Eigen::Index n) {
    Eigen::VectorXd out(n);
    for (double& v : out) v = next();
    return out;
  }

 private:
  Stream stream_;
  std::uint32_t at_ = 0;
};
}  // namespace mckean::search
