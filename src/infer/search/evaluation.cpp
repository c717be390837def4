#include "infer/search/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "noise/noise.hpp"

namespace mckean::search {
namespace {

constexpr std::size_t kFields = 7;  // before θ
}

std::vector<double> pack(const Record& r) {
  const Effort& e = r.request.effort;
  std::vector<double> out{static_cast<double>(r.serial),
                          static_cast<double>(e.level),
                          static_cast<double>(e.particles),
                          static_cast<double>(e.law_particles),
                          e.temper,
                          r.value.work,
                          r.value.loglik.value_or(std::nan(""))};
  out.insert(out.end(), r.request.theta.begin(), r.request.theta.end());
  for (const char c : r.value.problem) out.push_back(static_cast<unsigned char>(c));
  return out;
}

std::optional<Record> unpack(std::span<const double> v, std::size_t parameters) {
  if (v.size() < kFields + parameters) return {};
  Record r;
  r.serial = static_cast<std::size_t>(v[0]);
  r.request.effort = {static_cast<int>(v[1]), static_cast<std::size_t>(v[2]), static_cast<std::size_t>(v[3]), v[4]};
  r.value.work = v[5];
  if (!std::isnan(v[6])) r.value.loglik = v[6];
  const auto text = v.subspan(kFields + parameters);
  r.request.theta.assign(v.begin() + kFields, text.begin());
  for (const double c : text) r.value.problem += static_cast<char>(c);
  return r;
}

std::vector<Value> Evaluations::operator()(const std::string& group, std::span<const Request> requests) {
  if (runner_.out_of_time()) throw OutOfTime{};
  const std::uint64_t seed = seed_of(seed_, group);
  std::vector<Task> tasks;
  for (std::uint32_t i = 0; i < requests.size(); ++i)
    tasks.push_back(
        {kTaskPrefix + group, i, static_cast<double>(requests[i].effort.particles << requests[i].effort.level)});
  const auto results = runner_.run(tasks, [&](std::size_t i, const std::stop_token& stop) {
    const Request& r = requests[i];
    return pack({count_ + i, r, function_(r.theta, r.effort, {seed, static_cast<std::uint32_t>(i)}, stop)});
  });
  count_ += requests.size();
  std::vector<Value> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out.push_back(unpack(results[i], requests[i].theta.size()).value_or(Record{}).value);
    work_ += out.back().work;
    cost_ += out.back().work * step_cost(requests[i].effort);
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
