#include "infer/exact_maximum.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/search/evaluation.hpp"

namespace mckean {
namespace {

constexpr double kMostTimes = 10;

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
  out.at_bound = found->at_bound, out.problem = found->message, out.work = found->work;
  return out;
}

Request ExactTasks::at(int level, std::stop_token stop) const {
  Request out{.effort = {.level = level}, .stop = std::move(stop)};
  if (cost_) out.most_work = kMostTimes * expected_cost(level);
  return out;
}

double ExactTasks::expected_cost(int level) const { return cost_->second * std::exp2(1.5 * (level - cost_->first)); }

std::vector<ExactValue> ExactTasks::evaluate(const std::string& group, const std::vector<int>& levels,
                                             const std::vector<double>& theta) {
  check_time();
  std::vector<Task> tasks;
  for (const int level : levels)
    tasks.push_back({named_at(fmt::format("quadrature {} level {}", group, level), theta), 0, expected_cost(level)});
  const auto n = static_cast<Eigen::Index>(theta.size());
  auto out = run_records(bench_.runner, tasks, [&](std::size_t i, std::stop_token stop) {
    const Outcome v = engine_.at(theta, Order::information, {}, at(levels[i], std::move(stop)));
    if (!v) return ExactValue{};
    return ExactValue{v->loglik, Eigen::Map<const Eigen::VectorXd>(v->gradient.data(), n),
                      Eigen::Map<const Eigen::MatrixXd>(v->information.data(), n, n), v->work};
  });
  for (const ExactValue& v : out) bench_.particle_steps += static_cast<std::uint64_t>(v.work);
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
