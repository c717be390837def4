// One batch of tasks: what is to be begun next, what came of each task, and what comes out in the end.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "run/crew.hpp"
#include "run/failure.hpp"

namespace mckean {

// Whoever keeps a run. Called only by the thread that asked for the batch; recall, keep and waiting under MPI only on
// rank 0. The default keeps nothing.
class Keeper {
 public:
  virtual ~Keeper() = default;
  virtual std::optional<std::vector<double>> recall(const Task&) { return std::nullopt; }
  virtual void keep(const Task&, const std::vector<double>& /*value*/, double /*seconds*/) {}
  virtual void waiting() {}  // several times a second while tasks run
  virtual bool stop_requested() { return false; }
  virtual bool out_of_time() { return false; }       // as of a TaskRunner
  virtual void completed() {}                        // a batch is
  virtual void failed(const std::exception_ptr&) {}  // or this comes out of it
};

// What a message says of where a task stands: its group and number.
std::string place_of(const Task&);

class Batch {
 public:
  Batch(std::span<const Task>, Keeper&);  // recalls what is known

  std::optional<std::size_t> next();  // the longest that was not begun; none after a failure
  std::size_t left() const { return order_.size() - begun_; }
  void take(Crew::Outcome);  // of a thread of this process
  void finish(std::size_t position, std::vector<double> value, double seconds);
  void fail(std::size_t position, TaskFailure);

  bool broken() const { return failed() || stopped_; }  // it will not become complete
  bool complete() const { return missing_ == 0; }
  // All of them, or the exception of the first position that failed, or Stopped where some are missing.
  std::vector<std::vector<double>> results() &&;

 private:
  bool failed() const { return failure_.kind != TaskFailure::Kind::none; }

  std::span<const Task> tasks_;
  Keeper& keeper_;
  std::vector<std::size_t> order_;  // of the positions not recalled: by falling cost, then by position
  std::size_t begun_ = 0, missing_ = 0;
  std::vector<std::vector<double>> values_;
  TaskFailure failure_;
  std::size_t failed_position_ = 0;
  bool stopped_ = false;  // a task was
};
}  // namespace mckean
