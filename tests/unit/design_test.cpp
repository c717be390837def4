#include "infer/search/design.hpp"

#include <gtest/gtest.h>

namespace mckean::search {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

Region unit_ball(Eigen::Index n) { return {VectorXd::Zero(n), VectorXd::Ones(n), MatrixXd::Identity(n, n)}; }

// The largest standard error of a slope at the centre, from samples of variance 1.
double slope_error(std::span<const Sample> samples, const Region& region) {
  const auto n = region.widths.size();
  return std::sqrt(Polynomial::uncertainty(samples, region, 3).diagonal().segment(1, n).maxCoeff());
}

TEST(Design, ChosenPointsTellMoreThanNormalOnes) {
  for (Eigen::Index n = 1; n <= 4; ++n) {
    const Region region = unit_ball(n);
    const std::size_t pairs = 2 * Polynomial::terms(n, 3);
    Design design({}, region, 3);
    NormalDraws draws(1);
    std::vector<Sample> chosen, normal;
    for (std::size_t i = 0; i < pairs; ++i) {
      const VectorXd u = design.next(draws, 0.8);
      VectorXd other = draws.next(n);
      other *= 0.8 * std::min(1.0, 2.95 / other.norm());  // farther ones would not be used
      for (const double sign : {1.0, -1.0}) {
        chosen.push_back({sign * u, 0, 1});
        normal.push_back({sign * other, 0, 1});
      }
    }
    EXPECT_LT(slope_error(chosen, region), 0.85 * slope_error(normal, region)) << n;
    // What it says of itself is what a regression says.
    EXPECT_NEAR(std::sqrt(design.gradient_error().diagonal().maxCoeff()), slope_error(chosen, region), 1e-6) << n;
  }
}

// Samples of another group have a slope of their own: they tell of the shape alone.
TEST(Design, SamplesOfOtherGroupsSaveSome) {
  const Region region = unit_ball(2);
  NormalDraws draws(1);
  std::vector<Sample> others, own;
  for (int i = 0; i < 400; ++i) {
    const VectorXd u = draws.next(2);
    others.push_back({u, 0, 1, 1});
    own.push_back({u, 0, 1, 0});
  }
  const double error_after_few = [&] {
    std::vector<Sample> both = others;
    both.insert(both.end(), own.begin(), own.begin() + 40);
    return slope_error(both, region);
  }();
  EXPECT_GT(slope_error(others, region), 5);  // nothing is known of the slope
  EXPECT_LT(error_after_few, 0.6 * slope_error(std::span(own).first(40), region));
}
}  // namespace
}  // namespace mckean::search
