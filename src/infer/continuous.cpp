#include "infer/continuous.hpp"

#include <cmath>

#include "engine/extrapolation.hpp"
#include "mckean/error.hpp"
#include "paper/record.hpp"

namespace mckean {
namespace {

constexpr int kFinest = 9;
constexpr int kLastToPass = 5;        // a level that may be without a likelihood where finer ones have one
constexpr double kNegligible = 1e-3;  // error of a score, in its standard deviation

struct LevelValue {
  double loglik = 0, work = 0;
  std::vector<double> gradient, information;
  std::string problem;  // why there is none
};
constexpr auto record_of(const LevelValue*) {
  return record("value of a level", &LevelValue::loglik, &LevelValue::work, &LevelValue::gradient,
                &LevelValue::information, &LevelValue::problem);
}

// Of a score, its standard deviation is the root of the information.
bool agree(const Evaluation& a, const Evaluation& b, double gain, double error) {
  if (std::abs(a.loglik - b.loglik) > gain * error) return false;
  const std::size_t n = a.gradient.size();
  for (std::size_t p = 0; p < n; ++p) {
    const double spread = std::sqrt(std::abs(b.information[p * n + p])) + 1e-12;
    if (std::abs(a.gradient[p] - b.gradient[p]) > gain * kNegligible * spread) return false;
  }
  return true;
}

// Values on finer and finer levels.
class Levels {
 public:
  Levels(const Engine& engine, std::span<const double> theta, Order order, TaskRunner& runner)
      : engine_(engine), theta_(theta), order_(order), runner_(runner) {}

  // From the finest, which is the dearest. Only levels finer than all that have no value are kept.
  void take(const std::vector<int>& levels) {
    std::vector<Task> tasks;
    for (const int level : levels) tasks.push_back({"continuous", static_cast<std::uint32_t>(level + 1)});
    const auto values = run_records(runner_, tasks, [&](std::size_t i, std::stop_token stop) {
      const Request r{.effort = {.level = levels[i], .scheme = engine_.scheme()}, .stop = std::move(stop)};
      const Outcome v = engine_.at(theta_, order_, {}, r);
      if (v) return LevelValue{v->loglik, v->work, v->gradient, v->information, {}};
      return LevelValue{.gradient = {}, .information = {}, .problem = v.failure().message};
    });
    for (std::size_t i = levels.size(); i-- > 0;) {
      work_ += values[i].work;
      if (!values[i].problem.empty()) {
        if (levels[i] == kContinuous || levels[i] > kLastToPass) throw NumericalError(values[i].problem);
        known_.clear();
        continue;
      }
      known_.emplace_back();
      known_.back().loglik = values[i].loglik, known_.back().gradient = values[i].gradient;
      known_.back().information = values[i].information;
    }
  }

  const std::vector<Evaluation>& known() const { return known_; }  // of successive levels, the finest last
  double work() const { return work_; }

 private:
  const Engine& engine_;
  std::span<const double> theta_;
  Order order_;
  TaskRunner& runner_;
  std::vector<Evaluation> known_;
  double work_ = 0;
};
}  // namespace

Effort continuous_effort(const Engine& engine, int lowest) {
  if (engine.continuous()) return {.level = kContinuous};
  return {.level = lowest, .scheme = engine.scheme(), .extrapolated = true};
}

Evaluation in_continuous_time(const Engine& engine, std::span<const double> theta, Order order, TaskRunner& runner,
                              double error) {
  Levels levels(engine, theta, order, runner);
  if (engine.continuous()) {
    levels.take({kContinuous});
    Evaluation out = levels.known()[0];
    out.work = levels.work();
    return out;
  }
  const Scheme scheme = engine.scheme();
  const std::size_t needed = extrapolation_weights(scheme).size();
  const int first = scheme == Scheme::euler ? 2 : 0;
  levels.take({first + 2, first + 1, first});
  std::optional<Evaluation> before;
  for (int level = first + 2;; levels.take({++level})) {
    const std::vector<Evaluation>& known = levels.known();
    if (known.size() > needed && !before)
      before = extrapolated(std::span(known).last(needed + 1).first(needed), scheme);
    if (known.size() >= needed) {
      Evaluation now = extrapolated(std::span(known).last(needed), scheme);
      now.work = levels.work();
      for (std::size_t l = needed; l-- > 0;) now.levels.push_back(level - static_cast<int>(l));
      if (before && (agree(*before, now, extrapolation_gain(scheme), error) || level == kFinest)) return now;
      before = std::move(now);
    }
  }
}
}  // namespace mckean
