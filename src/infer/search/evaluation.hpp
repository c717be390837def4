// What a search knows of a likelihood: one function of θ, of how carefully it is computed, and of a draw.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "mckean/fit.hpp"
#include "mckean/tasks.hpp"

namespace mckean::search {

struct Effort {
  int level = 4;
  std::size_t particles = 256, law_particles = 512;  // M and N
  double temper = 1;                                 // every observation counts as that share of one
  bool operator==(const Effort&) const = default;
};

// Names the noise; exact functions ignore it.
struct Draw {
  std::uint64_t seed;
  std::uint32_t index;
};

struct Value {
  std::optional<double> loglik;
  std::string problem;  // why there is none
  double work = 0;      // particle-steps, or what an exact function counts in their place
};

// Pure, and safe to call from many threads.
using Function = std::function<Value(std::span<const double> theta, const Effort&, Draw, const std::stop_token&)>;

struct Request {
  std::vector<double> theta;
  Effort effort;
};

// The record that a task leaves: what was asked for and what came of it, in the order of the search.
struct Record {
  std::size_t serial = 0;  // of the evaluation within the search
  Request request;
  Value value;
};
std::vector<double> pack(const Record&);
std::optional<Record> unpack(std::span<const double>, std::size_t parameters);

inline const std::string kTaskPrefix = "search ";  // of the groups of a search's tasks

// The user's time is used up: the search ends with what it has.
struct OutOfTime {};

// What a particle's step costs: where interactions are pairwise, as many times that as the law has particles.
struct StepCost {
  double step = 1;
  bool pairwise = false;
  double of(const Effort& e) const { return step * (pairwise ? static_cast<double>(e.law_particles) : 1); }
};

// Runs batches of evaluations as tasks. A group names its noise as well, so no two batches may share one.
class Evaluations {
 public:
  Evaluations(Function function, TaskRunner& runner, FitObserver& observer, std::uint64_t seed, StepCost cost = {})
      : function_(std::move(function)), runner_(runner), observer_(observer), seed_(seed), step_cost_(cost) {}

  // Throws Stopped and OutOfTime.
  std::vector<Value> operator()(const std::string& group, std::span<const Request>);
  std::vector<Value> operator()(const std::string& group, const Request& request, std::size_t draws) {
    return (*this)(group, std::vector<Request>(draws, request));
  }

  void tell(const std::string& phase, const std::vector<double>& estimate, std::optional<double> loglik);
  const std::optional<LocalMaximum>& told() const { return told_; }  // the last estimate with its log-likelihood
  void say(std::string_view text) { observer_.message(text); }
  FitObserver& observer() { return observer_; }
  std::uint64_t seed() const { return seed_; }
  std::size_t count() const { return count_; }
  double work() const { return work_; }
  double cost() const { return cost_; }  // the work, each step by its cost
  double step_cost(const Effort& e) const { return step_cost_.of(e); }

 private:
  Function function_;
  TaskRunner& runner_;
  FitObserver& observer_;
  std::uint64_t seed_;
  std::size_t count_ = 0;
  double work_ = 0, cost_ = 0;
  StepCost step_cost_;
  std::optional<LocalMaximum> told_;
};

struct Moments {
  double mean = 0, variance = 0;  // of the estimates of one log-likelihood
  std::size_t found = 0;
  std::string problem;  // of one that failed
};
Moments moments(std::span<const Value>);
}  // namespace mckean::search
