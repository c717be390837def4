// How a fit asks for work: named tasks, whose results are pure functions of their names and the run's settings.
//
// A fit is a deterministic program that asks for batches of tasks and decides what to ask for next from their results
// alone. So whoever runs the tasks may use any number of threads or machines, in any order, may remember results on
// disk and hand them out again after a crash, and the fit arrives at the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mckean/error.hpp"

namespace mckean {

struct Task {
  std::string group;    // what it belongs to: "cell 3 0"; with the index, the name of its result within a run
  std::uint32_t index;  // within the group
  double cost = 1;      // expected particle-steps, so that long tasks can be begun first
};

// Computes the task at a position of the batch; throws Stopped soon after a stop is requested.
using TaskFunction = std::function<std::vector<double>(std::size_t position, std::stop_token)>;

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // Results in the order of the tasks. An exception of a task comes out; of several, that of the first position.
  virtual std::vector<std::vector<double>> run(std::span<const Task>, const TaskFunction&) = 0;
  // Whether the time that the user granted is used up; asked between batches.
  virtual bool out_of_time() { return false; }
};

// Watches a fit. The default does nothing.
class FitObserver {
 public:
  virtual ~FitObserver() = default;
  virtual void message(std::string_view) {}  // what is going on, for --verbose and the log of a run
  // What a phase of the fit decided on, by name, to be kept with the run.
  using Decisions = std::vector<std::pair<std::string, std::vector<double>>>;
  virtual void decided(const std::string& /*phase*/, const Decisions&) {}
  struct Progress {
    std::string phase;                    // "pilot", "main"
    double done = 0, planned = 0;         // particle-steps
    std::vector<double> estimate, mc_se;  // so far; empty before there is one
    std::vector<double> target;           // of mc_se; empty where none is set
    std::optional<double> loglik = {};    // the best so far, of a search
  };
  virtual void progress(const Progress&) {}
};
}  // namespace mckean
