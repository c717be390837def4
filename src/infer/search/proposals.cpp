#include "infer/search/proposals.hpp"

#include <fmt/format.h>

#include "infer/proposal_choice.hpp"

namespace mckean::search {
namespace {
constexpr std::size_t kDraws = 12;
}  // namespace

Effort with_best_proposal(Evaluations& evaluate, const std::string& name, const std::vector<double>& theta,
                          const Effort& effort) {
  const Effort best =
      mckean::with_best_proposal(evaluate.engine(), effort, [&](const Effort& e) -> std::optional<Spread> {
        const auto what = e.ahead ? fmt::format("ahead {}", e.widening) : fmt::format("plain {}", e.particles);
        const Moments m = moments(evaluate(fmt::format("{} {}", name, what), {theta, e}, kDraws));
        if (m.found < kDraws) return {};
        return Spread{m.mean, m.variance, m.found};
      });
  if (best.ahead) evaluate.say(fmt::format("{}: particles look ahead, variances times {}", name, best.widening));
  return best;
}
}  // namespace mckean::search
