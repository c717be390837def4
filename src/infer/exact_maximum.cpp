#include "infer/exact_maximum.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/search/evaluation.hpp"

namespace mckean {
namespace {

constexpr double kMostTimes = 10;

ExactMaximum described(const Result<Maximum>& found) {
  ExactMaximum out;
  if (!found) {
    out.problem = found.failure().message;
    return out;
  }
  out.theta = found->theta, out.loglik = found->loglik, out.information = found->information;
  out.converged = found->converged || found->flat;
  out.at_bound = found->at_bound, out.problem = found->message, out.work = found->work;
  return out;
}
}  // namespace

Request ExactTasks::at(int level, std::stop_token stop) const {
  Request out{.effort = {.level = level}, .stop = std::move(stop)};
  if (cost_) out.most_work = kMostTimes * cost_->second * std::exp2(1.5 * (level - cost_->first));
  return out;
}

void ExactTasks::check_time() {
  if (bench_.runner.out_of_time()) throw search::OutOfTime{};
}

std::vector<ExactMaximum> ExactTasks::maximise(const std::string& group, int level,
                                               std::span<const ExactRequest> requests) {
  check_time();
  std::vector<Task> tasks;
  for (std::uint32_t i = 0; i < requests.size(); ++i)
    tasks.push_back({fmt::format("quadrature {} level {}", group, level), i});
  auto out = run_records(bench_.runner, tasks, [&](std::size_t i, std::stop_token stop) {
    return described(mckean::maximise(
        engine_, requests[i].start,
        {.request = at(level, std::move(stop)), .tolerance = requests[i].tolerance, .held = requests[i].held}));
  });
  for (const ExactMaximum& m : out) bench_.particle_steps += static_cast<std::uint64_t>(m.work);
  return out;
}
}  // namespace mckean
