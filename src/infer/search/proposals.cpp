#include "infer/search/proposals.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mckean::search {
namespace {

constexpr std::size_t kDraws = 6;
constexpr double kQuiet = 0.4;  // standard deviation of a log-likelihood that needs no better filter
constexpr double kWidenings[] = {1, 1.5, 2.5, 4};
}  // namespace

Effort with_best_proposal(Evaluations& evaluate, const std::string& name, const std::vector<double>& theta,
                          const Effort& effort) {
  if (!evaluate.engine().looks_ahead()) return effort;
  Effort plain = effort, best = effort, ahead = effort;
  plain.ahead = false, ahead.ahead = true;
  const auto at = [&](const std::string& what, const Effort& e) {
    return moments(evaluate(fmt::format("{} {}", name, what), {theta, e}, kDraws));
  };
  const Moments as_it_is = at("plain", plain);
  if (as_it_is.found == kDraws && std::sqrt(as_it_is.variance) < kQuiet) return plain;
  const double ratio = evaluate.step_cost(ahead) / evaluate.step_cost(plain);
  plain.particles = static_cast<std::size_t>(ratio * static_cast<double>(effort.particles));
  const Moments same_work = at("plain, equal work", plain);
  double most = same_work.found == kDraws ? same_work.mean : -std::numeric_limits<double>::infinity();
  best.ahead = false;
  for (const double widening : kWidenings) {
    ahead.widening = widening;
    const Moments found = at(fmt::format("ahead {}", widening), ahead);
    if (found.found == kDraws && found.mean > most) most = found.mean, best = ahead;
  }
  if (best.ahead) evaluate.say(fmt::format("{}: particles look ahead, variances times {}", name, best.widening));
  return best;
}
}  // namespace mckean::search
