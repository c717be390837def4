#include "run/batch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mckean {

std::string place_of(const Task& task) {
  return task.group.empty() ? "" : fmt::format("{}, number {}", task.group, task.index);
}

Batch::Batch(std::span<const Task> tasks, Keeper& keeper) : tasks_(tasks), keeper_(keeper), values_(tasks.size()) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (auto known = keeper.recall(tasks[i]))
      values_[i] = std::move(*known);
    else
      order_.push_back(i);
  }
  missing_ = order_.size();
  std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return tasks[a].cost > tasks[b].cost; });
}

std::optional<std::size_t> Batch::next() {
  if (broken() || begun_ == order_.size()) return std::nullopt;
  return order_[begun_++];
}

void Batch::take(Crew::Outcome outcome) {
  if (outcome.error)
    fail(outcome.position, describe(outcome.error, place_of(tasks_[outcome.position])));
  else
    finish(outcome.position, std::move(outcome.value), outcome.seconds);
}

void Batch::finish(std::size_t position, std::vector<double> value, double seconds) {
  try {
    keeper_.keep(tasks_[position], value, seconds);
  } catch (...) {
    return fail(position, describe(std::current_exception(), ""));
  }
  values_[position] = std::move(value);
  --missing_;
}

void Batch::fail(std::size_t position, TaskFailure failure) {
  if (failure.kind == TaskFailure::Kind::stopped) {  // a consequence, not a cause
    stopped_ = true;
    return;
  }
  if (failed() && failed_position_ <= position) return;
  failure_ = std::move(failure);
  failed_position_ = position;
}

std::vector<std::vector<double>> Batch::results() && {
  if (failed()) raise(failure_);
  if (!complete()) throw Stopped{};
  return std::move(values_);
}
}  // namespace mckean
