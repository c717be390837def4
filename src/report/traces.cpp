#include "report/traces.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/unconstrained.hpp"
#include "paper/probe.hpp"
#include "report/budget.hpp"
#include "run/parallel.hpp"

namespace mckean::report {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kMostTraces = 4;

struct NotStored : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Hands out what the run has computed, and computes nothing.
class StoredResults : public TaskRunner {
 public:
  explicit StoredResults(const Store& store) : store_(store) {}
  std::vector<std::vector<double>> run(std::span<const Task> tasks, const TaskFunction&) override {
    std::vector<std::vector<double>> out;
    for (const Task& task : tasks) {
      auto found = store_.find(task);
      if (!found) throw NotStored(fmt::format("{} {}", task.group, task.index));
      out.push_back(std::move(*found));
    }
    return out;
  }

 private:
  const Store& store_;
};

// A chain of the lowest level: how it goes, and which seed its replicates have.
struct Recipe {
  ChainOptions chain;
  std::size_t length = 0, half = 0;  // iterations; the difference is that to the value at half
  std::uint64_t seed = 0;
  VectorXd centre = {};
  // Unconstrained and from the centre, without the weight of the start: as a CellReplicate has it. Else in θ.
  bool stratified = false;

  std::vector<double> difference(const Model& model, const std::vector<std::vector<double>>& theta) const {
    const auto at = [&](std::size_t n) -> VectorXd {
      if (!stratified) return Eigen::Map<const VectorXd>(theta[n].data(), static_cast<Eigen::Index>(theta[n].size()));
      double kept = 1;
      for (std::size_t k = 1; k <= n; ++k) kept *= 1 - chain.step.at(k);
      return (unconstrained(model.parameters(), theta[n]) - centre) / (1 - kept);
    };
    VectorXd out = at(length);
    if (half > 0) out -= at(half);
    return {out.begin(), out.end()};
  }
};

Recipe recipe(const Context& c, const CellDraws& cell) {
  StoredResults stored(c.input.store);
  FitObserver nobody;
  const FitPlan& given = c.input.plan;
  Workbench bench{c.problem, stored, nobody, given.seed};
  Recipe out;
  if (given.estimator == Estimator::stratified) {
    const StratifiedPlan plan = explore(bench, "", given.pilot).plan;
    const auto p = static_cast<std::size_t>(cell.p);
    out.chain = plan.chains.at(0);
    out.chain.start = natural(c.input.model.parameters(), plan.centre);
    out.length = plan.lengths.at(p), out.half = p > 0 ? plan.lengths[p - 1] : 0;
    out.seed = seed_of(given.seed, fmt::format("cell {} {}", cell.level, cell.p));
    out.stratified = true, out.centre = plan.centre;
    return out;
  }
  EstimatorOptions settings = given.replicated;
  Findings findings;
  precondition(bench, settings, findings);
  const MultilevelEstimator estimator(c.problem, settings);
  out.chain = estimator.chain_options(cell.level);
  out.length = estimator.iterations(cell.p), out.half = cell.p > 0 ? estimator.iterations(cell.p - 1) : 0;
  out.seed = given.seed;
  return out;
}

Trace trace(const Context& c, const CellDraws& cell, std::size_t at, const Recipe& recipe) {
  const Model& model = c.input.model;
  Trace out{cell.index[at], cell.p, {}};
  Chain chain(c.problem, recipe.chain, {recipe.seed, out.index, cell.level});
  out.theta.push_back(chain.theta());
  for (std::size_t n = 0; n < recipe.length; ++n) {
    chain.advance();
    out.theta.push_back(chain.theta());
  }
  out.same = recipe.difference(model, out.theta) == cell.difference[at];
  return out;
}
}  // namespace

Traces recompute_chains(const Context& c) {
  Traces out;
  const auto& draws = c.facts.draws;
  if (draws.empty()) {
    out.problem = "there are no replicates yet";
    return out;
  }
  if (c.input.plan.starts > 1) {
    out.problem = "a fit from several starts does not keep which of them its chains belong to";
    return out;
  }
  out.level = draws.front().level;
  const Work work(c.problem, Scheme::euler, true);
  try {
    // The longest chains of the lowest level of which at least one can be afforded.
    for (auto cell = draws.rbegin(); cell != draws.rend(); ++cell) {
      if (cell->level != out.level) continue;
      const Recipe how = recipe(c, *cell);
      const double cost = static_cast<double>(how.length + how.chain.burn_in) *
                          work.iteration(c.problem, out.level, how.chain.particles, 2 * how.chain.law_particles);
      const auto count =
          std::min<std::size_t>({kMostTraces, cell->index.size(), static_cast<std::size_t>(kTraceWork / cost)});
      if (count == 0) continue;
      out.traces.resize(count);
      parallel_for(count, c.input.threads, [&](std::size_t k) { out.traces[k] = trace(c, *cell, k, how); });
      return out;
    }
    out.problem = "a chain would take too long for a report";
  } catch (const NotStored&) {
    out.problem = "the run does not hold all that its chains depend on";
  } catch (const NumericalError& e) {
    out.problem = e.what();
  }
  return out;
}
}  // namespace mckean::report
