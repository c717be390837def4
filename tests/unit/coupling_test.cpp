// Draws of indices: margins and meeting probability, with zeros, identical and disjoint weights.
#include "engine/particles/coupling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace {

using namespace mckean;
using Weights = std::vector<double>;

// Every u on a fine regular grid: the share of an index is its probability up to the grid's spacing.
TEST(Categorical, DrawsEachIndexWithItsProbability) {
  for (const Weights& w : {Weights{1}, Weights{1, 1}, Weights{0, 3, 0, 1, 0}, Weights{1e-300, 1, 1e-300},
                           Weights{0.2, 0.5, 0.1, 0.2}, Weights(100, 0.3)}) {
    Categorical c;
    c.set(w);
    double sum = 0;
    for (const double v : w) sum += v;
    const int grid = 20000;
    std::vector<int> counts(w.size());
    for (int i = 0; i < grid; ++i) ++counts[c.draw((i + 0.5) / grid)];
    for (std::size_t i = 0; i < w.size(); ++i) {
      EXPECT_NEAR(counts[i], grid * w[i] / sum, 1.001) << i;
      EXPECT_TRUE(w[i] > 0 || counts[i] == 0) << i;
    }
  }
}

TEST(Categorical, NeverPassesTheLastPositiveWeight) {
  Categorical c;
  c.set(Weights{0.1, 0.7, 0.2, 0, 0});
  EXPECT_EQ(c.draw(std::nextafter(1.0, 0.0)), 2u);
  EXPECT_EQ(c.draw(std::nextafter(0.0, 1.0)), 0u);
}

// A random weight vector with some zeros.
Weights random_weights(std::mt19937_64& random, std::size_t n) {
  std::exponential_distribution<double> e;
  Weights w(n);
  for (double& v : w) v = random() % 4 ? e(random) : 0;
  w[random() % n] = 1;
  return w;
}

TEST(MaximalCoupling, MeetsWithProbabilityOneMinusTotalVariation) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 50; ++round) {
    const Weights a = random_weights(random, 1 + static_cast<std::size_t>(round)), b = random_weights(random, a.size());
    double sum1 = 0, sum2 = 0, variation = 0;
    for (const double v : a) sum1 += v;
    for (const double v : b) sum2 += v;
    for (std::size_t i = 0; i < a.size(); ++i) variation += 0.5 * std::abs(a[i] / sum1 - b[i] / sum2);
    MaximalCoupling c;
    c.set(a, b);
    EXPECT_NEAR(c.meeting_probability(), 1 - variation, 1e-12);
  }
}

// z-scores of all margins over 2e5 draws; at |z| < 4.5 a correct coupling of these 40 margins fails once in 3700.
TEST(MaximalCoupling, MarginsAreExact) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(1e-12, 1);
  for (int round = 0; round < 4; ++round) {
    const Weights a = random_weights(random, 5), b = random_weights(random, 5);
    MaximalCoupling c;
    c.set(a, b);
    double sum1 = 0, sum2 = 0;
    for (const double v : a) sum1 += v;
    for (const double v : b) sum2 += v;
    const int n = 200000;
    std::vector<int> first(5), second(5);
    int met = 0;
    for (int i = 0; i < n; ++i) {
      const auto [x, y] = c.draw({uniform(random), uniform(random), uniform(random)});
      ++first[x], ++second[y], met += x == y;
    }
    for (std::size_t i = 0; i < 5; ++i)
      for (const auto& [count, p] : {std::pair(first[i], a[i] / sum1), std::pair(second[i], b[i] / sum2)}) {
        EXPECT_LE(std::abs(count - n * p), 4.5 * std::sqrt(n * p * (1 - p)) + 1e-9);
      }
    const double m = c.meeting_probability();
    EXPECT_LT(std::abs(met - n * m), 4.5 * std::sqrt(n * m * (1 - m)) + 1e-9);
  }
}

TEST(MaximalCoupling, IdenticalAlwaysMeetDisjointNever) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(1e-12, 1);
  const Weights w{0.1, 0, 0.3, 0.3000000001, 1e-9}, left{1, 2, 0, 0}, right{0, 0, 3, 1};
  MaximalCoupling same, apart;
  same.set(w, w);
  apart.set(left, right);
  for (int i = 0; i < 10000; ++i) {
    const std::array<double, 3> u{uniform(random), uniform(random), uniform(random)};
    const auto [a, b] = same.draw(u);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, 1u);
    const auto [c, d] = apart.draw(u);
    EXPECT_LT(c, 2u);
    EXPECT_GE(d, 2u);
  }
}
}  // namespace
