#include "infer/exact_maximum.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/search/evaluation.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd;

constexpr double kNone = -1;
constexpr double kMostTimes = 10;

// Work, log-likelihood, whether it converged, the parameter at its bound, θ, the information, the message; none of the
// work, and the message alone, where there is no likelihood.
std::vector<double> packed(const Maximum& m) {
  std::vector<double> out{m.work, m.loglik, m.converged || m.flat ? 1.0 : 0.0,
                          m.at_bound ? static_cast<double>(*m.at_bound) : kNone};
  out.insert(out.end(), m.theta.begin(), m.theta.end());
  out.insert(out.end(), m.information.data(), m.information.data() + m.information.size());
  append_text(m.message, out);
  return out;
}

std::vector<double> failure(const std::string& why) {
  std::vector<double> out{kNone};
  append_text(why, out);
  return out;
}

ExactMaximum unpacked(std::span<const double> v, Index n) {
  ExactMaximum out;
  if (v[0] == kNone) {
    out.problem = text_from(v, 1);
    return out;
  }
  out.loglik = v[1], out.converged = v[2] != 0;
  if (v[3] >= 0) out.at_bound = static_cast<std::size_t>(v[3]);
  out.theta.assign(v.begin() + 4, v.begin() + 4 + n);
  out.information = Eigen::Map<const MatrixXd>(v.data() + 4 + n, n, n);
  out.problem = text_from(v, static_cast<std::size_t>(4 + n + n * n));
  return out;
}
}  // namespace

Request ExactTasks::at(int level, std::stop_token stop) const {
  Request out{.effort = {.level = level}, .stop = std::move(stop)};
  if (cost_) out.most_work = kMostTimes * expected_cost(level);
  return out;
}

double ExactTasks::expected_cost(int level) const { return cost_->second * std::exp2(1.5 * (level - cost_->first)); }

// The result of a task: work, log-likelihood, gradient, information; work alone where there is none.
std::vector<ExactValue> ExactTasks::evaluate(const std::string& group, const std::vector<int>& levels,
                                             const std::vector<double>& theta) {
  check_time();
  std::vector<Task> tasks;
  for (const int level : levels)
    tasks.push_back({named_at(fmt::format("quadrature {} level {}", group, level), theta), 0, expected_cost(level)});
  const auto results = bench_.runner.run(tasks, [&](std::size_t i, std::stop_token stop) {
    const Outcome v = engine_.at(theta, Order::information, {}, at(levels[i], std::move(stop)));
    if (!v) return std::vector<double>{0};
    std::vector<double> out{v->work, v->loglik};
    out.insert(out.end(), v->gradient.begin(), v->gradient.end());
    out.insert(out.end(), v->information.begin(), v->information.end());
    return out;
  });
  const auto n = static_cast<Index>(theta.size());
  std::vector<ExactValue> out;
  for (const auto& v : results) {
    bench_.particle_steps += static_cast<std::uint64_t>(v[0]);
    out.emplace_back();
    if (v.size() < 2) continue;
    out.back() = {v[1], Eigen::Map<const Eigen::VectorXd>(v.data() + 2, n),
                  Eigen::Map<const MatrixXd>(v.data() + 2 + n, n, n)};
  }
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
  const auto results = bench_.runner.run(tasks, [&](std::size_t i, std::stop_token stop) {
    const auto found = mckean::maximise(
        engine_, requests[i].start,
        {.request = at(level, std::move(stop)), .tolerance = requests[i].tolerance, .held = requests[i].held});
    return found ? packed(*found) : failure(found.failure().message);
  });
  std::vector<ExactMaximum> out;
  for (const auto& v : results) {
    out.push_back(unpacked(v, static_cast<Index>(bench_.model().parameters().size())));
    bench_.particle_steps += static_cast<std::uint64_t>(std::max(0.0, v[0]));
  }
  return out;
}
}  // namespace mckean
