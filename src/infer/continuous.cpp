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
  std::string too_coarse;  // why its steps are too long; empty where they are not
};
constexpr auto record_of(const LevelValue*) {
  return record("value of a level", &LevelValue::loglik, &LevelValue::work, &LevelValue::gradient,
                &LevelValue::information, &LevelValue::too_coarse);
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

// Values on finer and finer levels.
class Levels {
 public:
  Levels(const Engine& engine, std::span<const double> theta, Order order, TaskRunner& runner)
      : engine_(engine), theta_(theta), order_(order), runner_(runner) {}

  // The dearest first. Only levels finer than all that are too coarse are kept.
  void take(const std::vector<int>& levels) {
    std::vector<Task> tasks;
    for (const int level : levels) tasks.push_back({"continuous", static_cast<std::uint32_t>(level + 1)});
    const auto values = run_records(runner_, tasks, [&](std::size_t i, std::stop_token stop) {
      const Outcome v = engine_.at(theta_, order_, {}, {.effort = {.level = levels[i]}, .stop = std::move(stop)});
      if (v) return LevelValue{v->loglik, v->work, v->gradient, v->information, {}};
      if (v.failure().code != Failure::Code::too_coarse) throw NumericalError(v.failure().message);
      return LevelValue{.gradient = {}, .information = {}, .too_coarse = v.failure().message};
    });
    for (std::size_t i = levels.size(); i-- > 0;) {
      work_ += values[i].work;
      if (!values[i].too_coarse.empty()) {
        problem_ = values[i].too_coarse;
        known_.clear();
        continue;
      }
      known_.emplace_back();
      known_.back().loglik = values[i].loglik, known_.back().gradient = values[i].gradient;
      known_.back().information = values[i].information;
    }
  }

  const std::vector<Evaluation>& known() const { return known_; }  // of successive levels, the finest last
  const std::string& problem() const { return problem_; }
  double work() const { return work_; }

 private:
  const Engine& engine_;
  std::span<const double> theta_;
  Order order_;
  TaskRunner& runner_;
  std::vector<Evaluation> known_;
  std::string problem_;
  double work_ = 0;
};
}  // namespace

ContinuousValue in_continuous_time(const Engine& engine, std::span<const double> theta, Order order,
                                   TaskRunner& runner) {
  Levels levels(engine, theta, order, runner);
  if (engine.continuous()) {
    levels.take({kContinuous});
    ContinuousValue out{levels.known()[0], {}};
    out.evaluation.work = levels.work();
    return out;
  }
  levels.take({kCoarse + 2, kCoarse + 1, kCoarse});
  std::optional<Evaluation> before;
  for (int level = kCoarse + 2;; levels.take({++level})) {
    if (levels.known().size() >= kRichardsonLevels) {
      Evaluation now = richardson(std::span(levels.known()).last<kRichardsonLevels>());
      now.work = levels.work();
      if (before && (agree(*before, now) || level == kFinest)) return {now, {level - 2, level - 1, level}};
      before = std::move(now);
    }
    if (level == kFinest) throw NumericalError(levels.problem());
  }
}
}  // namespace mckean
