#include "infer/search/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "noise/noise.hpp"

namespace mckean::search {
namespace {

constexpr std::size_t kFields = 7;  // before θ
}

std::vector<double> pack(const Record& r) {
  const Effort& e = r.point.effort;
  std::vector<double> out{static_cast<double>(r.serial),
                          static_cast<double>(e.level),
                          static_cast<double>(e.particles),
                          static_cast<double>(e.law_particles),
                          e.temper,
                          r.value.work,
                          r.value.loglik.value_or(std::nan(""))};
  out.insert(out.end(), r.point.theta.begin(), r.point.theta.end());
  for (const char c : r.value.problem) out.push_back(static_cast<unsigned char>(c));
  return out;
}

std::optional<Record> unpack(std::span<const double> v, std::size_t parameters) {
  if (v.size() < kFields + parameters) return {};
  Record r;
  r.serial = static_cast<std::size_t>(v[0]);
  r.point.effort = {static_cast<int>(v[1]), static_cast<std::size_t>(v[2]), static_cast<std::size_t>(v[3]), v[4]};
  r.value.work = v[5];
  if (!std::isnan(v[6])) r.value.loglik = v[6];
  const auto text = v.subspan(kFields + parameters);
  r.point.theta.assign(v.begin() + kFields, text.begin());
  for (const double c : text) r.value.problem += static_cast<char>(c);
  return r;
}

std::vector<Value> Evaluations::operator()(const std::string& group, std::span<const Point> points) {
  if (runner_.out_of_time()) throw OutOfTime{};
  const std::uint64_t seed = seed_of(seed_, group);
  std::vector<Task> tasks;
  for (std::uint32_t i = 0; i < points.size(); ++i)
    tasks.push_back(
        {kTaskPrefix + group, i, static_cast<double>(points[i].effort.particles << points[i].effort.level)});
  const auto results = runner_.run(tasks, [&](std::size_t i, std::stop_token stop) {
    const Point& p = points[i];
    const Outcome at = engine_.at(p.theta, Order::value, {seed, static_cast<std::uint32_t>(i)},
                                  {.effort = p.effort, .stop = std::move(stop)});
    return pack({count_ + i, p, at ? Value{at->loglik, {}, at->work} : Value{{}, at.failure().message, 0}});
  });
  count_ += points.size();
  std::vector<Value> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out.push_back(unpack(results[i], points[i].theta.size()).value_or(Record{}).value);
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
