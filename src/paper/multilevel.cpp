#include "paper/multilevel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace mckean {
namespace {

// Where an unbounded p stops: the iterations of a chain are counted in 32 bits, and its probability is below 1e-6.
constexpr int kMostP = 30;

double weight(const Formula& formula, int at) {
  const double w = formula.at({static_cast<double>(at)});
  if (!(w > 0 && std::isfinite(w)))
    throw SettingError(
        fmt::format("{} {}: gives {} at {}; a weight must be positive", formula.name(), formula.text(), w, at));
  return w;
}

std::vector<double> normalised(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= sum;
  return weights;
}

std::size_t pick(const std::vector<double>& probabilities, double u) {
  std::size_t i = 0;
  for (double below = probabilities[0]; i + 1 < probabilities.size() && u >= below; below += probabilities[++i]) {
  }
  return i;
}
}  // namespace

MultilevelEstimator::MultilevelEstimator(const ParticleProblem& problem, const EstimatorOptions& options)
    : problem_(problem), options_(options) {
  for (int l = options.lowest; l <= options.highest; ++l) levels_.push_back(weight(options.level_weight, l));
  for (int p = 0; p <= options.most_p.value_or(kMostP); ++p) {
    lengths_.push_back(weight(options.length_weight, p));
    const double length = std::round(options.chain_length.at({static_cast<double>(p)}));
    if (!(length >= 1 && length < 1e18) || (p > 0 && length <= static_cast<double>(iterations_.back())))
      throw SettingError(fmt::format("{} {}: gives {} at p = {}; lengths must be at least 1 and increase",
                                     options.chain_length.name(), options.chain_length.text(), length, p));
    iterations_.push_back(static_cast<std::size_t>(length));
  }
  levels_ = normalised(levels_);
  lengths_ = normalised(lengths_);
}

double MultilevelEstimator::level_probability(int level) const {
  return levels_[static_cast<std::size_t>(level - options_.lowest)];
}
double MultilevelEstimator::length_probability(int p) const { return lengths_[static_cast<std::size_t>(p)]; }

std::size_t MultilevelEstimator::iterations(int p) const {
  return options_.kind == EstimatorOptions::Kind::single ? options_.iterations
                                                         : iterations_[static_cast<std::size_t>(p)];
}

std::pair<int, int> MultilevelEstimator::draw_cell(std::uint32_t replicate) const {
  const Stream stream(options_.seed, replicate, 0, Purpose::cell);
  return {options_.lowest + static_cast<int>(pick(levels_, uniform(stream, 0, 0))),
          static_cast<int>(pick(lengths_, uniform(stream, 0, 1)))};
}

ChainOptions MultilevelEstimator::chain_options(int level) const {
  ChainOptions o = options_.chain;
  const std::size_t T = problem_.schedule(level).grid.points.size();
  o.particles = options_.particles.at(level, options_.highest, T, 2);
  o.law_particles = options_.law_particles.at(level, options_.highest, T);
  if (level > options_.lowest)
    o.coarse_law_particles = std::min(o.law_particles, options_.law_particles.at(level - 1, options_.highest, T));
  return o;
}

double MultilevelEstimator::expected_cost(std::uint32_t replicate) const {
  const bool single = options_.kind == EstimatorOptions::Kind::single;
  const auto [level, p] = single ? std::pair(options_.highest, 0) : draw_cell(replicate);
  const ChainOptions o = chain_options(level);
  return static_cast<double>((o.particles * problem_.data().series.size() + 2 * o.law_particles) *
                             problem_.schedule(level).grid.steps() *
                             (single ? options_.iterations : iterations_[static_cast<std::size_t>(p)]));
}

Replicate MultilevelEstimator::operator()(std::uint32_t replicate, std::stop_token stop) const {
  Replicate r;
  const auto options_of = [&](int level) {
    ChainOptions o = chain_options(level);
    o.stop = std::move(stop);
    return o;
  };
  const auto minus = [](std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
  };
  if (options_.kind == EstimatorOptions::Kind::single) {
    r.level = options_.highest;
    Chain chain(problem_, options_of(r.level), {options_.seed, replicate, r.level});
    for (std::size_t n = 0; n < options_.iterations; ++n) chain.advance();
    r.difference = r.estimate = chain.theta();
    r.particle_steps = chain.particle_steps();
    r.reprojections = chain.reprojections();
    return r;
  }
  std::tie(r.level, r.p) = draw_cell(replicate);
  const auto p = static_cast<std::size_t>(r.p);
  const std::size_t half = p > 0 ? iterations_[p - 1] : 0, full = iterations_[p];
  std::vector<double> before(problem_.model().parameters().size(),
                             0.0);  // the estimator at p = 0 has nothing to subtract
  const auto run = [&](auto& chain, auto&& value) {
    for (std::size_t n = 1; n <= full; ++n) {
      chain.advance();
      if (n == half) before = value();
    }
    r.difference = minus(value(), before);
    r.particle_steps = chain.particle_steps();
    r.reprojections = chain.reprojections();
  };
  const ChainIdentity id{options_.seed, replicate, r.level};
  if (r.level == options_.lowest) {
    Chain chain(problem_, options_of(r.level), id);
    run(chain, [&] { return chain.theta(); });
  } else {
    CoupledChain chain(problem_, options_of(r.level), id);
    run(chain, [&] { return minus(chain.fine(), chain.coarse()); });
  }
  for (const double d : r.difference) r.estimate.push_back(d / (level_probability(r.level) * length_probability(r.p)));
  return r;
}

namespace {

void add_moments(const std::vector<std::vector<double>>& values, std::vector<double>& mean, std::vector<double>& sd) {
  const double n = static_cast<double>(values.size());
  mean.assign(values[0].size(), 0), sd = mean;
  for (const auto& v : values)
    for (std::size_t p = 0; p < v.size(); ++p) mean[p] += v[p] / n;
  for (const auto& v : values)
    for (std::size_t p = 0; p < v.size(); ++p) sd[p] += (v[p] - mean[p]) * (v[p] - mean[p]) / std::max(1.0, n - 1);
  for (double& s : sd) s = std::sqrt(s);
}
}  // namespace

EstimateSummary summarise(std::span<const Replicate> replicates) {
  EstimateSummary out;
  std::map<std::pair<int, int>, std::vector<std::vector<double>>> cells;
  std::map<std::pair<int, int>, std::uint64_t> steps;
  std::vector<std::vector<double>> estimates;
  for (const Replicate& r : replicates) {
    estimates.push_back(r.estimate);
    cells[{r.level, r.p}].push_back(r.difference);
    steps[{r.level, r.p}] += r.particle_steps;
    out.particle_steps += r.particle_steps;
    out.reprojections += r.reprojections;
  }
  add_moments(estimates, out.value, out.mc_se);
  for (double& s : out.mc_se) s /= std::sqrt(static_cast<double>(replicates.size()));
  for (const auto& [at, values] : cells) {
    Cell cell{at.first, at.second, values.size(), {}, {}, steps[at]};
    add_moments(values, cell.mean, cell.sd);
    out.cells.push_back(std::move(cell));
  }
  return out;
}
}  // namespace mckean
