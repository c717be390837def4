// Many estimates of one likelihood, as tasks.
#include "mckean/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "mckean/error.hpp"
#include "paper/probe.hpp"

namespace mckean {
namespace {

struct LikelihoodDraw {
  double loglik = 0, work = 0;
  std::vector<double> prediction_errors;
  std::vector<std::string> one_particle;  // observations at which one carries all the weight
};
constexpr auto record_of(const LikelihoodDraw*) {
  return record("likelihood", &LikelihoodDraw::loglik, &LikelihoodDraw::work, &LikelihoodDraw::prediction_errors,
                &LikelihoodDraw::one_particle);
}
}  // namespace

LikelihoodSummary summarise(std::span<const double> log_values) {
  const double largest = *std::ranges::max_element(log_values);
  const double n = static_cast<double>(log_values.size());
  double mean = 0, squares = 0;
  for (const double v : log_values) mean += std::exp(v - largest) / n;
  for (const double v : log_values) squares += std::pow(std::exp(v - largest) / mean - 1, 2);
  LikelihoodSummary out{largest + std::log(mean), std::nullopt};
  if (log_values.size() > 1) out.se = std::sqrt(squares / (n - 1) / n);
  return out;
}

LikelihoodAverage average_likelihood(const Engine& engine, std::span<const double> theta, const AverageOptions& o,
                                     TaskRunner& runner) {
  const std::size_t repeats = engine.exact() ? 1 : o.repeats;
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < repeats; ++r) tasks.push_back({named_at(o.group, theta), r});
  const auto results = run_records(runner, tasks, [&](std::size_t r, std::stop_token stop) {
    Request request = o.request;
    request.stop = std::move(stop);
    const Outcome l = engine.at(theta, Order::value, {o.seed, static_cast<std::uint32_t>(r)}, request);
    if (!l) throw NumericalError(l.failure().message);
    return LikelihoodDraw{l->loglik, l->work, l->prediction_errors, l->warnings};
  });
  LikelihoodAverage out;
  std::vector<double> values;
  out.prediction_errors.assign(results[0].prediction_errors.size(), 0);
  for (const LikelihoodDraw& r : results) {
    values.push_back(r.loglik);
    out.particle_steps += static_cast<std::uint64_t>(r.work);
    for (std::size_t i = 0; i < r.prediction_errors.size(); ++i)
      out.prediction_errors[i] += r.prediction_errors[i] / static_cast<double>(repeats);
    for (const std::string& observation : r.one_particle) {
      Finding f{Finding::Code::one_particle, {{"observation", observation}}};
      if (std::ranges::find(out.findings, f) == out.findings.end()) out.findings.push_back(std::move(f));
    }
  }
  out.summary = summarise(std::span<const double>(values));
  if (engine.exact()) out.summary.se = 0;
  return out;
}
}  // namespace mckean
