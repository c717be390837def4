// A likelihood that is known: a function of θ plus normal noise whose variance falls as 1/M. For tests of inference in
// milliseconds.
#pragma once

#include <cmath>
#include <functional>
#include <optional>

#include "infer/search/normal_draws.hpp"
#include "infer/search/search.hpp"
#include "mckean/error.hpp"
#include "noise/noise.hpp"

namespace mckean::search {

// Tasks one after another; stops, or is out of time, after so many batches.
class SerialRunner : public TaskRunner {
 public:
  std::vector<std::vector<double>> run(std::span<const Task> tasks, const TaskFunction& function) override {
    if (++batches > stop_after) throw Stopped{};
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < tasks.size(); ++i) out.push_back(function(i, {}));
    return out;
  }
  bool out_of_time() override { return batches >= time_after; }

  std::size_t batches = 0, stop_after = SIZE_MAX, time_after = SIZE_MAX;
};

struct Synthetic {
  // None where there is no likelihood.
  std::function<std::optional<double>(std::span<const double> theta, const Effort&)> value;
  double noise = 100;                                                                      // variance times M
  std::function<double(std::span<const double> theta)> louder = [](auto) { return 1.0; };  // and times this
  std::vector<Parameter> parameters;
  SearchOptions options = {.law = false};
  double step_cost = 1;
  std::uint64_t seed = 1;

  Function function() const {
    return [this](std::span<const double> theta, const Effort& e, Draw draw, const std::stop_token&) -> Value {
      const auto at = value(theta, e);
      if (!at) return {{}, "nothing here", 0};
      NormalDraws normal(seed_of(draw.seed, std::to_string(draw.index)));
      const double sd = std::sqrt(noise * louder(theta) / static_cast<double>(e.particles));
      // As log p̂ is: its mean is half its variance below.
      return {e.temper * *at + sd * normal.next() - sd * sd / 2, {}, static_cast<double>(e.particles << e.level)};
    };
  }

  Found run() { return run(runner); }
  Found run(SerialRunner& with) const {
    FitObserver observer;
    Evaluations evaluations(function(), with, observer, seed, {step_cost, options.pairwise});
    return search(evaluations, parameters, options);
  }

  SerialRunner runner;
};
}  // namespace mckean::search
