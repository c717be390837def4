// Many estimates of one likelihood, as tasks.
#include <algorithm>

#include "paper/probe.hpp"

namespace mckean {

// The result of a task: log of the estimate, particle-steps, prediction errors with their number before them, and the
// warnings, a line each.
LikelihoodAverage average_likelihood(const LikelihoodEstimator& estimator, std::span<const double> theta,
                                     std::size_t repeats, TaskRunner& runner, const std::string& group) {
  std::vector<Task> tasks;
  for (std::uint32_t r = 0; r < repeats; ++r) tasks.push_back({named_at(group, theta), r});
  const auto results = runner.run(tasks, [&](std::size_t r, const std::stop_token& stop) {
    if (stop.stop_requested()) throw Stopped{};
    const Likelihood l = estimator(theta, static_cast<std::uint32_t>(r));
    std::vector<double> out{l.log_value, static_cast<double>(l.particle_steps),
                            static_cast<double>(l.prediction_errors.size())};
    out.insert(out.end(), l.prediction_errors.begin(), l.prediction_errors.end());
    for (const std::string& w : l.warnings) append_text(w + "\n", out);
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
  return out;
}
}  // namespace mckean
