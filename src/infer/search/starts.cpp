#include "infer/search/starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/search/proposals.hpp"
#include "mckean/error.hpp"
#include "noise/noise.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::VectorXd;

namespace {

constexpr std::size_t kPairwiseLaw = 128, kLeastLaw = 256;
constexpr std::size_t kMostStarts = 4, kDraws = 6;
constexpr double kMostTimes = 3;  // what an exploration may cost, in units of the cheapest before it
constexpr double kRough = 1.5;    // log units between levels that make the search go on with finer steps
}  // namespace

// M as given, N as the options have it or as suits M.
Effort Starts::effort_at(std::size_t particles, int level) const {
  const std::size_t law = options_.law_particles > 0               ? options_.law_particles
                          : options_.law == Engine::LawKind::pairs ? kPairwiseLaw
                                                                   : std::max(kLeastLaw, particles);
  return {.level = level,
          .scheme = options_.scheme,
          .particles = particles,
          .law_particles = law,
          .ahead = proposal_.ahead,
          .widening = proposal_.widening};
}

bool Starts::disagree() const {
  return candidates_.size() < 2 || candidates_[0].loglik - candidates_[1].loglik > kComparable;
}

void Starts::choose() {
  if (candidates_.empty())
    throw NumericalError(fmt::format("no likelihood near any of {} starts: {}", tried_, problem_));
  choose_level();
  proposal_ = with_best_proposal(evaluate_, "proposal", box_.theta(candidates_[0].explored.mean), effort(kExploring));
}

// The model's own, and others around it.
VectorXd Starts::start(std::size_t k) const {
  VectorXd z(box_.size());
  for (Index i = 0; i < z.size(); ++i) z[i] = parameters_[static_cast<std::size_t>(i)].start / box_.scale[i];
  if (k == 0) return z;
  const Stream stream(seed_of(evaluate_.seed(), "starts"), static_cast<std::uint32_t>(k), 0, Purpose::data);
  for (Index i = 0; i < z.size(); ++i) {
    const double a = 2 * uniform(stream, 0, static_cast<std::uint32_t>(i)) - 1;
    if (std::isfinite(box_.lower[i]) && std::isfinite(box_.upper[i]))
      z[i] = box_.lower[i] + (box_.upper[i] - box_.lower[i]) * (1 + 0.9 * a) / 2;
    else
      z[i] = z[i] == 0 ? 2 * a : z[i] * std::exp(1.1 * a);
  }
  return box_.inside(z);
}

std::optional<ExploreOptions> Starts::next() {
  if (tried_ >= options_.starts && (options_.starts == 1 || tried_ >= kMostStarts || !disagree())) return {};
  std::vector<Explored> known;
  for (const Candidate& c : candidates_) known.push_back(c.explored);
  ExploreOptions options{.name = fmt::format("start {}", tried_ + 1),
                         .start = start(tried_),
                         .effort = effort_at(kExploring, options_.levels.first),
                         .highest_level = options_.levels.second,
                         .most_cost = std::min(options_.most_cost / 4, kMostTimes * cheapest_),
                         .most_generations = 25 + 10 * static_cast<int>(box_.size()),
                         .known = std::move(known)};
  evaluate_.say(fmt::format("{}: {}", options.name, to_text(parameters_, box_.theta(options.start))));
  cost_before_ = evaluate_.cost();
  ++tried_;
  return options;
}

void Starts::take(Explored explored) {
  if (!explored.found) {
    problem_ = explored.problem;
    return compare();
  }
  evaluate_.say(fmt::format("start {} led to {}, log-likelihood {:.6g} at level {}", tried_,
                            to_text(parameters_, box_.theta(explored.mean)), explored.loglik, explored.effort.level));
  if (!best_ || explored.loglik > best_->loglik) best_ = LocalMaximum{box_.theta(explored.mean), explored.loglik};
  cheapest_ = std::min(cheapest_, evaluate_.cost() - cost_before_);
  candidates_.push_back({std::move(explored), 0, 0});
  compare();
}

// By the level and the proposal of the best one: others that need finer steps are too far away to matter.
void Starts::compare() {
  if (candidates_.empty()) return;
  const Candidate& best =
      *std::ranges::max_element(candidates_, {}, [](const Candidate& c) { return c.explored.loglik; });
  level_ = best.explored.effort.level;
  proposal_ = best.explored.effort;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    Candidate& c = candidates_[i];
    const Moments m = moments(evaluate_(fmt::format("comparison {} {}", tried_, i),
                                        {box_.theta(c.explored.mean), effort(kComparing)}, kDraws));
    c.loglik = m.found > 0 ? m.mean : -std::numeric_limits<double>::infinity();
    c.error = std::sqrt(m.variance / kDraws);
  }
  std::ranges::stable_sort(candidates_, std::greater(), &Candidate::loglik);
}

void Starts::choose_level() {
  const int before = level_;
  const auto at = [&](int level) {
    return moments(evaluate_(fmt::format("steps level {}", level),
                             {box_.theta(candidates_[0].explored.mean), effort_at(kComparing, level)}, kDraws));
  };
  Moments coarse = at(level_);
  while (level_ < options_.levels.second) {
    const Moments fine = at(level_ + 1);
    if (fine.found < 2) break;
    const double error = std::sqrt((coarse.variance + fine.variance) / kDraws);
    if (coarse.found == kDraws && std::abs(fine.mean - coarse.mean) < kRough + 3 * error) break;
    ++level_;
    coarse = fine;
  }
  if (level_ == before) return;
  evaluate_.say(fmt::format("level {} in place of {}: the likelihood still changes", level_, before));
  explore_again();
}

// From the best point, on the level that was chosen.
void Starts::explore_again() {
  Explored& best = candidates_[0].explored;
  const Explored found = explore(evaluate_, box_,
                                 {.name = fmt::format("level {}", level_),
                                  .start = best.mean,
                                  .width = 3,
                                  .shape = best.covariance,
                                  .effort = effort(kExploring),
                                  .highest_level = options_.levels.second,
                                  .most_generations = 15 + 5 * static_cast<int>(box_.size())});
  if (!found.found) return;
  best = found;
  best_ = LocalMaximum{box_.theta(found.mean), found.loglik};
}
}  // namespace mckean::search
