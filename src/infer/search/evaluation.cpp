#include "infer/search/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "noise/noise.hpp"

namespace mckean::search {

std::vector<Value> Evaluations::operator()(const std::string& group, std::span<const Point> points) {
  if (runner_.out_of_time()) throw OutOfTime{};
  const std::uint64_t seed = seed_of(seed_, group);
  std::vector<Task> tasks;
  for (std::uint32_t i = 0; i < points.size(); ++i)
    tasks.push_back(
        {kTaskPrefix + group, i, static_cast<double>(points[i].effort.particles << points[i].effort.level)});
  const auto results = run_records(runner_, tasks, [&](std::size_t i, std::stop_token stop) {
    const Point& p = points[i];
    const Outcome at = engine_.at(p.theta, Order::value, {seed, static_cast<std::uint32_t>(i)},
                                  {.effort = p.effort, .stop = std::move(stop)});
    if (at) return Record{count_ + i, p, {at->loglik, {}, at->work}};
    const Failure& why = at.failure();
    return Record{count_ + i, p, {{}, why.message, 0, why.code == Failure::Code::too_coarse}};
  });
  count_ += points.size();
  std::vector<Value> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out.push_back(results[i].value);
    work_ += out.back().work;
    cost_ += out.back().work * step_cost(points[i].effort);
  }
  return out;
}

void Evaluations::tell(const std::string& phase, const std::vector<double>& estimate, std::optional<double> loglik) {
  FitObserver::Progress p;
  p.phase = phase;
  p.done = work_;
  p.estimate = estimate;
  p.loglik = loglik;
  observer_.progress(p);
  if (loglik) told_ = LocalMaximum{estimate, *loglik};
}

Moments moments(std::span<const Value> values) {
  Moments m;
  for (const Value& v : values) {
    if (v.loglik)
      m.mean += *v.loglik, ++m.found;
    else
      m.problem = v.problem;
  }
  if (m.found == 0) return m;
  m.mean /= static_cast<double>(m.found);
  for (const Value& v : values)
    if (v.loglik) m.variance += (*v.loglik - m.mean) * (*v.loglik - m.mean);
  m.variance = m.found > 1 ? m.variance / static_cast<double>(m.found - 1) : 0;
  return m;
}
}  // namespace mckean::search
