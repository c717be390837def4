#include "paper/stratified.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/unconstrained.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::VectorXd;

// Rounds, and what share of the estimate comes from each. That the numbers of replicates follow what earlier rounds
// have shown introduces no bias: the shares are fixed in advance and the numbers of a round depend on earlier rounds
// alone, so given those the mean of each round is unbiased, and so is the sum with fixed weights. (Pooling all
// replicates of a cell would weigh a round by its number, which depends on the others' values.)
constexpr std::array kShares = {1.0 / 16, 3.0 / 16, 12.0 / 16};
constexpr std::size_t kLeast = 8;  // replicates of a cell in a round
// Where the target is missed all the same, the last round is made longer. Whether it is depends on how far values lie
// from their mean, not on which side, so that values with a symmetric distribution stay unbiased; the chains' are
// nearly so, being averages of many Newton steps.
constexpr int kExtensions = 4;
// The last round comes in chunks, between which the clock is asked; all threads wait for the last of a chunk.
constexpr std::size_t kChunks = 4, kLeastInChunk = 32;

std::string group_name(int level, int p) { return fmt::format("cell {} {}", level, p); }

double replicate_cost(const ParticleProblem& problem, const StratifiedPlan& plan, int level, int p, bool coupled) {
  const ChainOptions& o = plan.chains[static_cast<std::size_t>(level - plan.lowest)];
  const double particles = static_cast<double>(o.particles * problem.data().series.size() + 2 * o.law_particles);
  return particles *
         static_cast<double>(problem.schedule(level).grid.steps() *
                             (o.burn_in + plan.lengths[static_cast<std::size_t>(p)])) *
         (coupled ? 1.5 : 1.0);
}
}  // namespace

CellReplicate run_chain(const ParticleProblem& problem, const StratifiedPlan& plan, ChainIdentity id, int p,
                        std::stop_token stop) {
  const Model& model = problem.model();
  ChainOptions options = plan.chains[static_cast<std::size_t>(id.level - plan.lowest)];
  options.start = natural(model.parameters(), plan.centre);
  options.stop = std::move(stop);
  const auto at = static_cast<std::size_t>(p);
  const std::size_t half = p > 0 ? plan.lengths[at - 1] : 0, full = plan.lengths[at];
  CellReplicate out;
  // `displacement`: of the chain from u_c, or of the chain at one level from that at the other.
  const auto run = [&](auto& chain, auto&& displacement) {
    VectorXd before = VectorXd::Zero(plan.centre.size());
    double kept = 1;
    for (std::size_t n = 1; n <= full; ++n) {
      chain.advance();
      kept *= 1 - options.step.at(n);
      if (n == half) before = displacement() / (1 - kept);
    }
    out = {displacement() / (1 - kept) - before, chain.particle_steps(), chain.reprojections()};
  };
  if (id.level > plan.lowest) {
    CoupledChain chain(problem, options, id);
    run(chain, [&]() -> VectorXd {
      return unconstrained(model.parameters(), chain.fine()) - unconstrained(model.parameters(), chain.coarse());
    });
  } else {
    Chain chain(problem, options, id);
    run(chain, [&]() -> VectorXd { return unconstrained(model.parameters(), chain.theta()) - plan.centre; });
  }
  return out;
}

namespace {

// One cell with everything it has seen.
struct Stratum {
  int level, p;
  std::vector<std::vector<VectorXd>> rounds;  // differences, round by round
  std::size_t count = 0, reprojections = 0;
  double particle_steps = 0, cost = 1;  // cost: of one replicate

  VectorXd mean(const std::vector<double>& shares) const {
    VectorXd sum = VectorXd::Zero(rounds[0][0].size());
    for (std::size_t k = 0; k < rounds.size(); ++k)
      for (const VectorXd& d : rounds[k]) sum += shares[k] / static_cast<double>(rounds[k].size()) * d;
    return sum;
  }
  VectorXd sd() const {
    VectorXd sum = VectorXd::Zero(rounds[0][0].size()), squares = sum;
    for (const auto& round : rounds)
      for (const VectorXd& d : round) sum += d;
    sum /= static_cast<double>(count);
    for (const auto& round : rounds)
      for (const VectorXd& d : round) squares += (d - sum).cwiseAbs2();
    return (squares / static_cast<double>(count - 1)).cwiseSqrt();
  }
  // Of the cell's mean: Σ_k share_k² / n_k times the cell's variance. That is known from few replicates; the factor
  // makes errors divided by it have variance 1, as those of a t distribution have not.
  VectorXd variance_of_mean(const std::vector<double>& shares) const {
    double sum = 0;
    for (std::size_t k = 0; k < rounds.size(); ++k)
      sum += shares[k] * shares[k] / static_cast<double>(rounds[k].size());
    const auto n = static_cast<double>(count);
    return sum * (n > 3 ? (n - 1) / (n - 3) : 1) * sd().cwiseAbs2();
  }
};

class StratifiedRun {
 public:
  StratifiedRun(Workbench& bench, const StratifiedPlan& plan) : bench_(bench), plan_(plan) {
    for (int l = plan.lowest; l <= plan.highest; ++l)
      for (std::size_t p = 0; p < plan.lengths.size(); ++p) {
        Stratum s{l, static_cast<int>(p), {}};
        s.cost = replicate_cost(bench.problem, plan, l, s.p, l > plan.lowest);
        strata_.push_back(std::move(s));
      }
  }

  StratifiedResult run() {
    for (std::size_t k = 0; k < kShares.size() && !out_of_time_; ++k) {
      std::vector<std::size_t> counts = k == 0 ? first_counts() : next_counts(k);
      const std::size_t chunks =
          k + 1 == kShares.size() ? std::clamp<std::size_t>(std::ranges::min(counts) / kLeastInChunk, 1, kChunks) : 1;
      expect(k, counts);
      for (Stratum& s : strata_) s.rounds.emplace_back();
      for (std::size_t c = 0; c < chunks && !out_of_time_; ++c) {
        std::vector<std::size_t> now;
        for (const std::size_t n : counts) now.push_back(n * (c + 1) / chunks - n * c / chunks);
        compute(now);
        out_of_time_ = bench_.runner.out_of_time();
        report();
      }
    }
    for (int k = 0; k < kExtensions && !out_of_time_ && !plan_.replicates; ++k) {
      const double missed = relative(result().mc_se);
      if (missed <= 1) break;
      std::vector<std::size_t> more;
      for (const Stratum& s : strata_)
        more.push_back(static_cast<std::size_t>(
            std::ceil(1.2 * (missed * missed - 1) * static_cast<double>(s.rounds.back().size()))));
      expect(kShares.size() - 1, more);
      compute(more);
      out_of_time_ = bench_.runner.out_of_time();
      report();
    }
    return result();
  }

 private:
  // Shares of the rounds there are, with sum 1.
  std::vector<double> shares() const {
    std::vector<double> out;
    double sum = 0;
    for (std::size_t k = 0; k < strata_[0].rounds.size(); ++k) sum += kShares[k];
    for (std::size_t k = 0; k < strata_[0].rounds.size(); ++k) out.push_back(kShares[k] / sum);
    return out;
  }

  // Standard deviation of a cell in units of the target, the largest over parameters.
  double relative(const VectorXd& sd) const {
    double most = 0;
    for (Index p = 0; p < sd.size(); ++p)
      if (std::isfinite(plan_.target[p])) most = std::max(most, sd[p] / plan_.target[p]);
    return most;
  }

  // Numbers n_c ∝ s_c/√cost with Σ s_c²/n_c = allowed, or with a given sum.
  std::vector<double> allocate(const std::vector<double>& s, double allowed, std::optional<double> total) const {
    double cross = 0, sum = 0;
    for (std::size_t c = 0; c < s.size(); ++c) {
      cross += s[c] * std::sqrt(strata_[c].cost);
      sum += s[c] / std::sqrt(strata_[c].cost);
    }
    std::vector<double> n;
    for (std::size_t c = 0; c < s.size(); ++c)
      n.push_back(s[c] / std::sqrt(strata_[c].cost) * (total ? *total / std::max(sum, 1e-300) : cross / allowed));
    return n;
  }

  std::vector<std::size_t> round_up(const std::vector<double>& n) const {
    std::vector<std::size_t> out;
    for (const double v : n)
      out.push_back(
          std::clamp(static_cast<std::size_t>(std::min(std::ceil(v), 1e7)), least(), std::size_t{kMostReplicates}));
    return out;
  }

  std::size_t least() const {
    if (!plan_.replicates) return kLeast;
    return std::clamp<std::size_t>(*plan_.replicates / (kShares.size() * strata_.size()), 1, kLeast);
  }

  std::vector<std::size_t> first_counts() const {
    std::vector<double> s;
    for (const Stratum& c : strata_)
      s.push_back(relative(
          (plan_.noise.diagonal() / static_cast<double>(plan_.lengths[static_cast<std::size_t>(c.p)])).cwiseSqrt()));
    std::optional<double> total;
    if (plan_.replicates) total = kShares[0] * static_cast<double>(*plan_.replicates);
    std::vector<double> n = allocate(s, 1 / kShares[0], total);
    return round_up(n);
  }

  std::vector<std::size_t> next_counts(std::size_t round) const {
    std::vector<double> s;
    // A standard error above what was seen, so that the last round mostly reaches the target.
    for (const Stratum& c : strata_)
      s.push_back(relative(c.sd()) *
                  (1 + 1 / std::sqrt(2 * static_cast<double>(std::max<std::size_t>(c.count, 2) - 1))));
    const double share = kShares[round];
    if (plan_.replicates) {
      std::size_t done = 0;
      for (const Stratum& c : strata_) done += c.count;
      const double left = std::max(0.0, static_cast<double>(*plan_.replicates) - static_cast<double>(done));
      return round_up(
          allocate(s, 1, round + 1 == kShares.size() ? left : share * static_cast<double>(*plan_.replicates)));
    }
    if (round + 1 < kShares.size()) return round_up(allocate(s, 1 / share, std::nullopt));
    double used = 0;
    for (std::size_t c = 0; c < s.size(); ++c)
      for (std::size_t k = 0; k < round; ++k)
        used += s[c] * s[c] * kShares[k] * kShares[k] / static_cast<double>(strata_[c].rounds[k].size());
    return round_up(allocate(s, std::max(0.2, 1 - used) / (share * share), std::nullopt));
  }

  void compute(const std::vector<std::size_t>& counts) {
    std::vector<Task> tasks;
    std::vector<std::size_t> owner;
    for (std::size_t c = 0; c < strata_.size(); ++c)
      for (std::size_t i = 0; i < counts[c]; ++i) {
        tasks.push_back({group_name(strata_[c].level, strata_[c].p), static_cast<std::uint32_t>(strata_[c].count + i),
                         strata_[c].cost});
        owner.push_back(c);
      }
    const auto results = run_records(bench_.runner, tasks, [&](std::size_t position, std::stop_token stop) {
      const Stratum& s = strata_[owner[position]];
      return bench_.chains->replicate(plan_,
                                      {seed_of(bench_.seed, group_name(s.level, s.p)), tasks[position].index, s.level},
                                      s.p, std::move(stop));
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
      Stratum& s = strata_[owner[i]];
      s.rounds.back().push_back(results[i].difference);
      s.particle_steps += static_cast<double>(results[i].particle_steps);
      s.reprojections += results[i].reprojections;
      ++s.count;
    }
    for (Stratum& s : strata_) s.cost = s.particle_steps / static_cast<double>(s.count);
  }

  // Foresees the work, before a round is computed: that round and, of the ones to come, what its share tells.
  void expect(std::size_t round, const std::vector<std::size_t>& counts) {
    double done = 0, next = 0;
    for (std::size_t c = 0; c < strata_.size(); ++c) {
      done += strata_[c].particle_steps;
      next += static_cast<double>(counts[c]) * strata_[c].cost;
    }
    double later = 0;
    for (std::size_t k = round + 1; k < kShares.size(); ++k) later += kShares[k] / kShares[round];
    planned_ = done + next * (1 + later);
    if (done > 0)
      report();
    else
      bench_.observer.progress(
          {.phase = "main", .done = 0, .planned = planned_, .estimate = {}, .mc_se = {}, .target = {}});
  }

  void report() const {
    const StratifiedResult now = result();
    FitObserver::Progress progress;
    progress.phase = "main";
    progress.done = static_cast<double>(now.particle_steps);
    progress.planned = std::max(planned_, progress.done);
    progress.estimate = natural(bench_.model().parameters(), now.u);
    const VectorXd slope = slopes(bench_.model().parameters(), now.u).cwiseAbs();
    for (Index p = 0; p < slope.size(); ++p) {
      progress.mc_se.push_back(slope[p] * now.mc_se[p]);
      progress.target.push_back(slope[p] * plan_.target[p]);
    }
    bench_.observer.progress(progress);
  }

  StratifiedResult result() const {
    StratifiedResult out;
    const auto share = shares();
    out.u = plan_.centre;
    VectorXd variance = VectorXd::Zero(out.u.size());
    for (const Stratum& s : strata_) {
      out.u += s.mean(share);
      variance += s.variance_of_mean(share);
      out.particle_steps += static_cast<std::uint64_t>(s.particle_steps);
      out.replicates += s.count;
      out.reprojections += s.reprojections;
    }
    out.mc_se = variance.cwiseSqrt();
    out.out_of_time = out_of_time_;
    const VectorXd slope = slopes(bench_.model().parameters(), out.u);
    for (const Stratum& s : strata_) {
      const VectorXd mean = slope.cwiseProduct(s.mean(share)), sd = slope.cwiseAbs().cwiseProduct(s.sd());
      out.cells.push_back({s.level,
                           s.p,
                           s.count,
                           {mean.begin(), mean.end()},
                           {sd.begin(), sd.end()},
                           static_cast<std::uint64_t>(s.particle_steps)});
      add_tail_finding(s, out.findings);
    }
    return out;
  }

  // One replicate that makes up half of a cell's variance leaves its standard error in doubt.
  void add_tail_finding(const Stratum& s, Findings& findings) const {
    if (s.count < 20) return;
    const VectorXd sd = s.sd(), mean = s.mean(shares());
    for (Index p = 0; p < sd.size(); ++p) {
      double largest = 0;
      for (const auto& round : s.rounds)
        for (const VectorXd& d : round) largest = std::max(largest, std::pow(d[p] - mean[p], 2));
      if (largest > 0.5 * sd[p] * sd[p] * static_cast<double>(s.count - 1))
        findings.push_back({Finding::Code::heavy_tails,
                            {{"parameter", bench_.model().parameters()[static_cast<std::size_t>(p)].name},
                             {"count", s.count},
                             {"level", s.level},
                             {"p", s.p}}});
    }
  }

  Workbench& bench_;
  const StratifiedPlan& plan_;
  std::vector<Stratum> strata_;
  double planned_ = 0;  // particle-steps
  bool out_of_time_ = false;
};
}  // namespace

StratifiedResult estimate(Workbench& bench, const StratifiedPlan& plan) {
  StratifiedResult out = StratifiedRun(bench, plan).run();
  bench.particle_steps += out.particle_steps;
  return out;
}
}  // namespace mckean
