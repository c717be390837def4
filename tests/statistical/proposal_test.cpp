// A filter whose particles are proposed from another density and weighted ahead estimates the same likelihood.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/particles/filter.hpp"
#include "z_score.hpp"

namespace mckean {
namespace {

constexpr double kShift = 0.3, kPull = 0.05, kTau = 0.5;

// Of a random walk: normals of mean kShift in place of 0, and ψ_j(x) = exp(−kPull (x − 1)² (J − j)/J).
class ShiftedProposal : public PlainProposal {
 public:
  ShiftedProposal(const Schedule& schedule, std::size_t particles)
      : PlainProposal(schedule.grid, particles, kernels()), schedule_(schedule), particles_(particles) {}

  LawStatus propose(std::size_t k, const Columns& from, Columns& to, NoiseSource& noise) override {
    const LawStatus status = PlainProposal::propose(k, from, to, noise);
    for (std::size_t i = 0; i < particles_; ++i) to[0][i] += schedule_.grid.step[k].root() * kShift;
    return status;
  }
  bool weighs() const override { return true; }
  void first_stage(std::size_t point, const Columns& x, double* log_w) override {
    for (std::size_t i = 0; i < particles_; ++i) log_w[i] += log_psi(x[0][i], left(point));
  }
  void weigh(std::size_t k, const Columns& from, const Columns& to, double* log_w) override {
    const double root = schedule_.grid.step[k].root();
    for (std::size_t i = 0; i < particles_; ++i) {
      const double z = (to[0][i] - from[0][i]) / root;
      log_w[i] += kShift * kShift / 2 - kShift * z;  // f/q
      log_w[i] += log_psi(to[0][i], left(k + 1) == 1 ? 0 : left(k + 1)) - log_psi(from[0][i], left(k));
    }
  }

 private:
  static double log_psi(double x, double share) { return -kPull * (x - 1) * (x - 1) * share; }
  // The share of its interval that lies ahead of a grid point; 1 where it begins.
  double left(std::size_t point) const {
    const double t = schedule_.grid.time[point];
    return 1 - (t - std::floor(t));
  }
  const Schedule& schedule_;
  std::size_t particles_;
};

class Walk : public testing::Test {
 protected:
  Walk()
      : model(parse_model("[state]\nx = 0\n[parameters]\na = 0\n[drift]\nx = \"a\"\n[diffusion]\nx = 1\n[observation]\n"
                          "y = \"normal(x, 0.5)\"\n",
                          "walk.toml")),
        data{"walk", model.columns(), {{"", {1, 2, 3, 4}, y, {1, 2, 3, 4}}}},
        system(model),
        observation(model),
        schedule(data, 2, 1),
        law(draw_law(system, schedule.grid, theta, {{1, 0, 0, Purpose::law_start}, {1, 0, 0, Purpose::law}}, {})) {}

  double exact() const {
    double mean = 0, variance = 0, sum = 0;
    for (const double v : y) {
      variance += 1;
      const double total = variance + kTau * kTau;
      sum -= 0.5 * (std::log(2 * std::numbers::pi * total) + (v - mean) * (v - mean) / total);
      mean += variance / total * (v - mean);
      variance *= kTau * kTau / total;
    }
    return sum;
  }

  double estimate(FilterLevel& level, std::uint32_t replicate) {
    level.set_law(law, theta);
    level.begin(0, Stream(1, replicate, 0, Purpose::filter_start));
    FreshNoise noise({kernels(), NormalPrecision::single, Stream(1, replicate, 0, Purpose::filter), 0, 1},
                     level.particles());
    DrivenLevel driven{level, noise};
    std::vector<std::size_t> points;
    for (const auto& v : schedule.visits[0]) points.push_back(v.point);
    std::vector<std::uint32_t> ancestors(level.particles());
    double sum = 0;
    const LawStatus status = run_filter({&driven, 1}, points, [&](std::size_t v) {
      level.arrive(points[v]);
      level.weigh(points[v], schedule.values(0, schedule.visits[0][v]));
      const WeightSum weights = level.normalise(points[v], v + 1 == points.size());
      const double u = uniform(Stream(1, replicate, 0, Purpose::resample), 0, static_cast<std::uint32_t>(v));
      systematic_resample(level.weights(), weights.sum, u, ancestors);
      level.resample(ancestors);
      sum += weights.largest + std::log(weights.sum / static_cast<double>(level.particles()));
    });
    EXPECT_EQ(status, LawStatus::good);
    return sum;
  }

  const std::vector<double> y{0.4, 1.3, 1.1, 2.0}, theta{0};
  Model model;
  Data data;
  System system;
  Observation observation;
  Schedule schedule;
  LawPath law;
};

// The mean of 2000 ratios to the exact likelihood is 1 within 4 standard errors of about 0.005: false alarms, 1 in
// 16000 each.
TEST_F(Walk, AnotherProposalHasTheSameLikelihood) {
  const double want = exact();
  for (const bool shifted : {false, true}) {
    const std::size_t M = 60;
    FilterLevel level(system, observation, schedule, {M}, kernels(),
                      shifted ? std::make_unique<ShiftedProposal>(schedule, M) : nullptr);
    std::vector<double> ratios;
    for (std::uint32_t r = 0; r < 2000; ++r) ratios.push_back(std::exp(estimate(level, r) - want));
    tests::expect_close(tests::mean_of(ratios), 1, 0.0086, shifted ? "shifted" : "plain");
  }
}
}  // namespace
}  // namespace mckean
