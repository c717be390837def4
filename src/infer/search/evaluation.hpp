// What a search asks of an engine: values at many points, as tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "mckean/engine.hpp"
#include "mckean/fit.hpp"
#include "paper/record.hpp"

namespace mckean {

constexpr auto record_of(const Effort*) {
  return record("effort", &Effort::level, &Effort::scheme, &Effort::particles, &Effort::law_particles, &Effort::temper,
                &Effort::ahead, &Effort::widening);
}
}  // namespace mckean

namespace mckean::search {

struct Value {
  std::optional<double> loglik;
  std::string problem;      // why there is none
  double work = 0;          // particle-steps, or what an exact function counts in their place
  bool too_coarse = false;  // there is none since the steps are too long
};

// What to evaluate, and how carefully.
struct Point {
  std::vector<double> theta;
  Effort effort;
};

// The record that a task leaves: what was asked for and what came of it, in the order of the search.
struct Record {
  std::size_t serial = 0;  // of the evaluation within the search
  Point point;
  Value value;
};
constexpr auto record_of(const Value*) {
  return record("value", &Value::loglik, &Value::problem, &Value::work, &Value::too_coarse);
}
constexpr auto record_of(const Point*) { return record("point", &Point::theta, &Point::effort); }
constexpr auto record_of(const Record*) {
  return record("evaluation of a search", &Record::serial, &Record::point, &Record::value);
}

inline const std::string kTaskPrefix = "search ";  // of the groups of a search's tasks

// The user's time is used up: the search ends with what it has.
struct OutOfTime {};

// Runs batches of evaluations as tasks. A group names its noise as well, so no two batches may share one.
class Evaluations {
 public:
  Evaluations(const Engine& engine, TaskRunner& runner, FitObserver& observer, std::uint64_t seed)
      : engine_(engine), runner_(runner), observer_(observer), seed_(seed) {}

  // Throws Stopped and OutOfTime.
  std::vector<Value> operator()(const std::string& group, std::span<const Point>);
  std::vector<Value> operator()(const std::string& group, const Point& point, std::size_t draws) {
    return (*this)(group, std::vector<Point>(draws, point));
  }

  void tell(const std::string& phase, const std::vector<double>& estimate, std::optional<double> loglik);
  const std::optional<LocalMaximum>& told() const { return told_; }  // the last estimate with its log-likelihood
  void say(std::string_view text) { observer_.message(text); }
  FitObserver& observer() { return observer_; }
  std::uint64_t seed() const { return seed_; }
  std::size_t count() const { return count_; }
  double work() const { return work_; }
  double cost() const { return cost_; }  // the work, each step by its cost
  double step_cost(const Effort& e) const { return engine_.step_cost(e); }
  const Engine& engine() const { return engine_; }

 private:
  const Engine& engine_;
  TaskRunner& runner_;
  FitObserver& observer_;
  std::uint64_t seed_;
  std::size_t count_ = 0;
  double work_ = 0, cost_ = 0;
  std::optional<LocalMaximum> told_;
};

struct Moments {
  double mean = 0, variance = 0;  // of the estimates of one log-likelihood
  std::size_t found = 0;
  std::string problem;  // of one that failed
};
Moments moments(std::span<const Value>);
}  // namespace mckean::search
