// One coupled iteration of Procedure 2 for the Kuramoto model, written as the paper prints it: all pairs, all paths
// stored, the law again for the finite difference, std::normal_distribution. The yardstick of speed, and the twin that
// tests compare with. Genealogy smoother, maximal coupling, observations N(x, tau²) at 1 .. T.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace plain {

struct Settings {
  int level, T;
  std::size_t M, N;
  double K = 1, sigma = 0.15, tau = 1, x0 = 1.5;
};

using Cloud = std::vector<std::vector<double>>;  // all particles at every grid point

class Kuramoto {
 public:
  Kuramoto(Settings s, std::vector<double> y, unsigned seed) : s_(s), y_(std::move(y)), random_(seed) {}

  // θ + K mean_j sin(x − x'_j)
  double drift(double theta, double x, const std::vector<double>& law) const {
    double sum = 0;
    for (const double other : law) sum += std::sin(x - other);
    return theta + s_.K * sum / static_cast<double>(law.size());
  }

  // Algorithm 1 along given increments: increments[k][i] for step k, particle i.
  Cloud law(double theta, const Cloud& increments, double dt) const {
    Cloud x(increments.size() + 1, std::vector<double>(s_.N, s_.x0));
    for (std::size_t k = 0; k < increments.size(); ++k)
      for (std::size_t i = 0; i < s_.N; ++i)
        x[k + 1][i] = x[k][i] + drift(theta, x[k][i], x[k]) * dt + s_.sigma * increments[k][i];
    return x;
  }

  // Fine increments for `count` particles, and their sums over two steps.
  std::pair<Cloud, Cloud> increments(std::size_t count) {
    const std::size_t steps = static_cast<std::size_t>(s_.T) << s_.level;
    const double root = std::sqrt(dt());
    Cloud fine(steps, std::vector<double>(count)), coarse(steps / 2, std::vector<double>(count));
    for (std::size_t k = 0; k < steps; ++k)
      for (std::size_t i = 0; i < count; ++i) coarse[k / 2][i] += fine[k][i] = root * normal_(random_);
    return {fine, coarse};
  }

  double dt() const { return std::ldexp(1.0, -s_.level); }

  struct Paths {
    std::vector<double> fine, coarse;
  };

  // Algorithm 4.
  Paths kernel(const Paths& reference, double theta, double coarse_theta) {
    const std::size_t M = s_.M, n = std::size_t{1} << s_.level;
    const auto law_noise = increments(s_.N);
    const Cloud law1 = law(theta, law_noise.first, dt()), law2 = law(coarse_theta, law_noise.second, 2 * dt());
    const auto noise = increments(M);
    std::vector<Paths> path(M, {{s_.x0}, {s_.x0}});
    std::vector<double> w1(M), w2(M);
    for (int t = 0; t < s_.T; ++t) {
      for (std::size_t i = 0; i < M; ++i) {
        if (i + 1 == M) {
          path[i] = {
              {reference.fine.begin(),
               reference.fine.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(t) + 1) * n + 1)},
              {reference.coarse.begin(),
               reference.coarse.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(t) + 1) * n / 2 + 1)}};
        } else {
          for (std::size_t j = 0; j < n; ++j) {
            const std::size_t k = static_cast<std::size_t>(t) * n + j;
            const double x = path[i].fine.back();
            path[i].fine.push_back(x + drift(theta, x, law1[k]) * dt() + s_.sigma * noise.first[k][i]);
          }
          for (std::size_t j = 0; j < n / 2; ++j) {
            const std::size_t k = static_cast<std::size_t>(t) * n / 2 + j;
            const double x = path[i].coarse.back();
            path[i].coarse.push_back(x + drift(coarse_theta, x, law2[k]) * 2 * dt() + s_.sigma * noise.second[k][i]);
          }
        }
        w1[i] = weight(path[i].fine.back(), t), w2[i] = weight(path[i].coarse.back(), t);
      }
      if (t + 1 == s_.T) break;
      const std::vector<Paths> before = path;
      for (std::size_t i = 0; i + 1 < M; ++i) {
        const auto [a, b] = couple(w1, w2);
        path[i] = {before[a].fine, before[b].coarse};
      }
    }
    const auto [a, b] = couple(w1, w2);
    return {path[a].fine, path[b].coarse};
  }

  // H by the paper's finite difference of the law.
  std::pair<double, double> scores(const Paths& p, double theta, double coarse_theta) {
    const auto noise = increments(s_.N);
    return {score(p.fine, theta, noise.first, dt()), score(p.coarse, coarse_theta, noise.second, 2 * dt())};
  }

  Paths first(double theta) {  // both levels from one law, for a start
    const auto law_noise = increments(s_.N), noise = increments(1);
    const Cloud law1 = law(theta, law_noise.first, dt()), law2 = law(theta, law_noise.second, 2 * dt());
    Paths p{{s_.x0}, {s_.x0}};
    for (std::size_t k = 0; k < noise.first.size(); ++k)
      p.fine.push_back(p.fine.back() + drift(theta, p.fine.back(), law1[k]) * dt() + s_.sigma * noise.first[k][0]);
    for (std::size_t k = 0; k < noise.second.size(); ++k)
      p.coarse.push_back(p.coarse.back() + drift(theta, p.coarse.back(), law2[k]) * 2 * dt() +
                         s_.sigma * noise.second[k][0]);
    return p;
  }

 private:
  double weight(double x, int t) const {
    const double z = (y_[static_cast<std::size_t>(t)] - x) / s_.tau;
    return std::exp(-z * z / 2);
  }

  double score(const std::vector<double>& path, double theta, const Cloud& noise, double step) const {
    const Cloud here = law(theta, noise, step), there = law(theta - step, noise, step);
    double h = 0;
    for (std::size_t k = 0; k < noise.size(); ++k) {
      const double a = drift(theta, path[k], here[k]), g = (a - drift(theta - step, path[k], there[k])) / step;
      h += g * (path[k + 1] - path[k] - a * step) / (s_.sigma * s_.sigma);
    }
    return h;
  }

  std::size_t draw(const std::vector<double>& w) {
    return std::discrete_distribution<std::size_t>(w.begin(), w.end())(random_);
  }

  std::pair<std::size_t, std::size_t> couple(const std::vector<double>& w1, const std::vector<double>& w2) {
    double sum1 = 0, sum2 = 0, common = 0;
    for (std::size_t i = 0; i < w1.size(); ++i) sum1 += w1[i], sum2 += w2[i];
    std::vector<double> both(w1.size()), rest1(w1.size()), rest2(w1.size());
    for (std::size_t i = 0; i < w1.size(); ++i) {
      both[i] = std::min(w1[i] / sum1, w2[i] / sum2);
      rest1[i] = w1[i] / sum1 - both[i], rest2[i] = w2[i] / sum2 - both[i];
      common += both[i];
    }
    if (std::uniform_real_distribution<double>()(random_) < common) {
      const std::size_t i = draw(both);
      return {i, i};
    }
    const std::size_t a = draw(rest1);
    return {a, draw(rest2)};
  }

  Settings s_;
  std::vector<double> y_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};
}  // namespace plain
