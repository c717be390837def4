#include "infer/exact_maximum.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/extrapolation.hpp"
#include "infer/search/evaluation.hpp"

namespace mckean {
namespace {

constexpr double kMostTimes = 10;
constexpr int kFinest = 8;  // level from which an extrapolation may begin

}  // namespace

ExactMaximum described(const Result<Maximum>& found) {
  ExactMaximum out;
  if (!found) {
    out.problem = found.failure().message;
    out.too_coarse = found.failure().code == Failure::Code::too_coarse;
    return out;
  }
  out.theta = found->theta, out.loglik = found->loglik;
  out.gradient = found->gradient, out.information = found->information;
  out.converged = found->converged || found->flat;
  out.at_bound = found->at_bound, out.problem = found->message, out.work = found->work, out.level = found->level;
  return out;
}

std::string ExactSteps::text() const {
  if (level == kContinuous) return "continuous time";
  return fmt::format("{}level {}", extrapolated ? "continuous time from " : "", level);
}

Request ExactTasks::at(const ExactSteps& steps, std::stop_token stop) const {
  Request out{.effort = {.level = steps.level, .scheme = steps.scheme, .extrapolated = steps.extrapolated},
              .error = steps.extrapolated ? errors_.extrapolated : errors_.coarse,
              .stop = std::move(stop)};
  if (cost_) out.most_work = kMostTimes * expected_cost(steps);
  return out;
}

MaximiseOptions ExactTasks::options(const ExactSteps& steps, std::stop_token stop, const ExactRequest& asked) const {
  MaximiseOptions out{.request = at(steps, std::move(stop)),
                      .most_iterations = asked.most_iterations,
                      .tolerance = asked.tolerance,
                      .held = asked.held};
  out.finest = finest(steps);
  return out;
}

int ExactTasks::finest(ExactSteps steps) const {
  while (steps.level < kFinest && cost_ && affordable(steps.finer())) ++steps.level;
  return steps.level;
}

// That of the finest level, which is the dearest.
double ExactTasks::expected_cost(const ExactSteps& steps) const {
  const std::size_t more = steps.extrapolated ? extrapolation_weights(steps.scheme).size() - 1 : 0;
  return cost_->second * std::exp2(1.5 * (steps.level + static_cast<int>(more) - cost_->first));
}

ExactValue ExactTasks::evaluate(const std::string& group, const ExactSteps& steps, const std::vector<double>& theta) {
  check_time();
  const Task task{named_at(fmt::format("quadrature {} {}", group, steps.text()), theta), 0};
  const auto n = static_cast<Eigen::Index>(theta.size());
  ExactValue out = run_records(bench_.runner, std::span(&task, 1), [&](std::size_t, std::stop_token stop) {
    const Outcome v = engine_.at(theta, Order::information, {}, at(steps, std::move(stop)));
    if (!v) return ExactValue{};
    return ExactValue{v->loglik, Eigen::Map<const Eigen::VectorXd>(v->gradient.data(), n),
                      Eigen::Map<const Eigen::MatrixXd>(v->information.data(), n, n), v->work, v->levels};
  })[0];
  bench_.particle_steps += static_cast<std::uint64_t>(out.work);
  return out;
}

void ExactTasks::check_time() {
  if (bench_.runner.out_of_time()) throw search::OutOfTime{};
}

std::vector<ExactMaximum> ExactTasks::maximise(const std::string& group, const ExactSteps& steps,
                                               std::span<const ExactRequest> requests) {
  check_time();
  std::vector<Task> tasks;
  for (std::uint32_t i = 0; i < requests.size(); ++i)
    tasks.push_back({fmt::format("quadrature {} {}", group, steps.text()), i});
  auto out = run_records(bench_.runner, tasks, [&](std::size_t i, std::stop_token stop) {
    return described(mckean::maximise(engine_, requests[i].start, options(steps, std::move(stop), requests[i])));
  });
  for (const ExactMaximum& m : out) bench_.particle_steps += static_cast<std::uint64_t>(m.work);
  return out;
}
}  // namespace mckean
