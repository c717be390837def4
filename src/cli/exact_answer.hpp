// Answers of commands that hold θ by an exact engine, where one serves and particles were not asked for.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments.hpp"
#include "infer/continuous.hpp"
#include "mckean/world.hpp"

namespace mckean::cli {

struct ExactAnswer {
  std::string engine;
  std::optional<int> level;  // that was asked for; none: continuous time
  ContinuousValue value;
  States states;  // where they were asked for

  std::string steps() const;                                // "level 3", "continuous time", …
  nlohmann::ordered_json settings(const Arguments&) const;  // the keys that all commands have
};

enum class Wanted { value, gradient, states };

// None: particles answer. Throws InputError where options contradict each other or the engine asked for refuses, and
// NumericalError where it was asked for and has no answer.
std::optional<ExactAnswer> exact_answer(const Arguments&, const Problem&, Wanted, World&);
}  // namespace mckean::cli
