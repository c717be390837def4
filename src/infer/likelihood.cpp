// Many estimates of one likelihood, as tasks.
#include "mckean/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "infer/likelihood_draws.hpp"
#include "mckean/error.hpp"
#include "paper/probe.hpp"

namespace mckean {
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

std::vector<LikelihoodDraw> draw_likelihoods(const Engine& engine, std::span<const double> theta,
                                             const AverageOptions& o, std::uint32_t first, std::size_t count,
                                             TaskRunner& runner) {
  std::vector<Task> tasks;
  for (std::uint32_t r = first; r < first + count; ++r) tasks.push_back({named_at(o.group, theta), r});
  return run_records(runner, tasks, [&](std::size_t i, std::stop_token stop) {
    Request request = o.request;
    request.stop = std::move(stop);
    const Outcome l = engine.at(theta, Order::value, {o.seed, tasks[i].index}, request);
    if (!l) throw NumericalError(l.failure().message);
    return LikelihoodDraw{l->loglik, l->work, l->prediction_errors, l->warnings};
  });
}

LikelihoodAverage averaged(std::span<const LikelihoodDraw> draws) {
  LikelihoodAverage out;
  std::vector<double> values;
  out.prediction_errors.assign(draws[0].prediction_errors.size(), 0);
  for (const LikelihoodDraw& r : draws) {
    values.push_back(r.loglik);
    out.particle_steps += static_cast<std::uint64_t>(r.work);
    for (std::size_t i = 0; i < r.prediction_errors.size(); ++i)
      out.prediction_errors[i] += r.prediction_errors[i] / static_cast<double>(draws.size());
    for (const std::string& observation : r.one_particle) {
      Finding f{Finding::Code::one_particle, {{"observation", observation}}};
      if (std::ranges::find(out.findings, f) == out.findings.end()) out.findings.push_back(std::move(f));
    }
  }
  out.summary = summarise(std::span<const double>(values));
  return out;
}

LikelihoodAverage average_likelihood(const Engine& engine, std::span<const double> theta, const AverageOptions& o,
                                     TaskRunner& runner) {
  LikelihoodAverage out = averaged(draw_likelihoods(engine, theta, o, 0, engine.exact() ? 1 : o.repeats, runner));
  if (engine.exact()) out.summary.se = 0;
  return out;
}
}  // namespace mckean
