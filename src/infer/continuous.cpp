#include "infer/continuous.hpp"

#include <cmath>

#include "infer/richardson.hpp"
#include "mckean/error.hpp"
#include "paper/record.hpp"

namespace mckean {
namespace {

constexpr int kCoarse = 2, kFinest = 9;
constexpr double kNegligible = 1e-3;  // change of the log-likelihood, and of a score in its standard deviation

struct LevelValue {
  double loglik = 0, work = 0;
  std::vector<double> gradient, information;
};
constexpr auto record_of(const LevelValue*) {
  return record("value of a level", &LevelValue::loglik, &LevelValue::work, &LevelValue::gradient,
                &LevelValue::information);
}

// Of a score, its standard deviation is the root of the information.
bool agree(const Evaluation& a, const Evaluation& b) {
  if (std::abs(a.loglik - b.loglik) > kNegligible) return false;
  const std::size_t n = a.gradient.size();
  for (std::size_t p = 0; p < n; ++p) {
    const double spread = std::sqrt(std::abs(b.information[p * n + p])) + 1e-12;
    if (std::abs(a.gradient[p] - b.gradient[p]) > kNegligible * spread) return false;
  }
  return true;
}
}  // namespace

ContinuousValue in_continuous_time(const Engine& engine, std::span<const double> theta, Order order,
                                   TaskRunner& runner) {
  double work = 0;
  // On several levels, the dearest first.
  const auto at = [&](const std::vector<int>& levels) {
    std::vector<Task> tasks;
    for (const int level : levels) tasks.push_back({"continuous", static_cast<std::uint32_t>(level + 1)});
    const auto values = run_records(runner, tasks, [&](std::size_t i, std::stop_token stop) {
      const Outcome v = engine.at(theta, order, {}, {.effort = {.level = levels[i]}, .stop = std::move(stop)});
      if (!v) throw NumericalError(v.failure().message);
      return LevelValue{v->loglik, v->work, v->gradient, v->information};
    });
    std::vector<Evaluation> out(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      out[i].loglik = values[i].loglik, out[i].gradient = values[i].gradient;
      out[i].information = values[i].information;
      work += values[i].work;
    }
    return out;
  };
  if (engine.continuous()) {
    ContinuousValue out{at({kContinuous})[0], {}};
    out.evaluation.work = work;
    return out;
  }
  const auto first = at({kCoarse + 2, kCoarse + 1, kCoarse});
  std::vector<Evaluation> known{first[2], first[1], first[0]};
  Evaluation before = richardson(known);
  for (int level = kCoarse + 3; level <= kFinest; ++level) {
    known.erase(known.begin());
    known.push_back(at({level})[0]);
    Evaluation now = richardson(known);
    now.work = work;
    if (agree(before, now) || level == kFinest) return {now, {level - 2, level - 1, level}};
    before = std::move(now);
  }
  throw NumericalError("levels could not be extrapolated");
}
}  // namespace mckean
