// Many estimates of one likelihood, as tasks.
#include "mckean/likelihood.hpp"

#include <algorithm>
#include <cmath>

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

// The result of a task: log of the estimate, particle-steps, prediction errors with their number before them, and the
// warnings, a line each.
LikelihoodAverage average_likelihood(const Engine& engine, std::span<const double> theta, const AverageOptions& o,
                                     TaskRunner& runner) {
  const std::size_t repeats = engine.exact() ? 1 : o.repeats;
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < repeats; ++r) tasks.push_back({named_at(o.group, theta), r});
  const auto results = runner.run(tasks, [&](std::size_t r, std::stop_token stop) {
    Request request = o.request;
    request.stop = std::move(stop);
    const Outcome l = engine.at(theta, Order::value, {o.seed, static_cast<std::uint32_t>(r)}, request);
    if (!l) throw NumericalError(l.failure().message);
    std::vector<double> out{l->loglik, l->work, static_cast<double>(l->prediction_errors.size())};
    out.insert(out.end(), l->prediction_errors.begin(), l->prediction_errors.end());
    for (const std::string& w : l->warnings) append_text(w + "\n", out);
    return out;
  });
  LikelihoodAverage out;
  std::vector<double> values;
  const auto errors = static_cast<std::size_t>(results[0][2]);
  out.prediction_errors.assign(errors, 0);
  for (const auto& r : results) {
    values.push_back(r[0]);
    out.particle_steps += static_cast<std::uint64_t>(r[1]);
    for (std::size_t i = 0; i < errors; ++i) out.prediction_errors[i] += r[3 + i] / static_cast<double>(repeats);
    const std::string text = text_from(r, 3 + errors);
    for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
      const std::string line = text.substr(from, end - from);
      if (std::ranges::find(out.warnings, line) == out.warnings.end()) out.warnings.push_back(line);
    }
  }
  out.summary = summarise(std::span<const double>(values));
  if (engine.exact()) out.summary.se = 0;
  return out;
}
}  // namespace mckean
