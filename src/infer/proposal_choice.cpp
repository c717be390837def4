#include "infer/proposal_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mckean {
namespace {

constexpr double kQuiet = 0.4;  // standard deviation of a log-likelihood that needs no better filter
constexpr double kGain = 0.5;   // log units that make looking ahead worth while
constexpr double kMost = 1;     // of them, from variances: values that are low and vary little are wrong
constexpr double kWidenings[] = {1, 1.5, 2.5, 4};

// Less the standard error of what the means say of it.
double sure_gain(const Spread& to, const Spread& from) {
  const double error =
      std::sqrt(to.variance / static_cast<double>(to.count) + from.variance / static_cast<double>(from.count));
  return to.mean - from.mean + std::min(kMost, (from.variance - to.variance) / 2) - error;
}
}  // namespace

Effort with_best_proposal(const Engine& engine, const Effort& effort,
                          const std::function<std::optional<Spread>(const Effort&)>& spread) {
  if (!engine.looks_ahead()) return effort;
  Effort plain = effort, ahead = effort;
  plain.ahead = false, ahead.ahead = true;
  const auto as_it_is = spread(plain);
  if (as_it_is && std::sqrt(as_it_is->variance) < kQuiet) return plain;
  Effort same_work = plain, best = plain;
  const double ratio = engine.step_cost(ahead) / engine.step_cost(plain);
  same_work.particles = static_cast<std::size_t>(ratio * static_cast<double>(effort.particles));
  const auto of_plain = spread(same_work);
  double most = kGain;
  for (const double widening : kWidenings) {
    ahead.widening = widening;
    const auto found = spread(ahead);
    if (!found) continue;
    const double here = sure_gain(*found, of_plain.value_or(Spread{-std::numeric_limits<double>::max(), 0, 1}));
    if (here > most) most = here, best = ahead;
  }
  return best;
}
}  // namespace mckean
