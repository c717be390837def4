// Answers of commands that hold θ by an exact engine, where one serves and particles were not asked for.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments.hpp"
#include "infer/continuous.hpp"
#include "mckean/world.hpp"

namespace mckean::cli {

// The engine that the options mean: particles where one of theirs is given. Throws InputError where others contradict
// it.
std::string asked_engine(const Arguments&);

std::string steps_text(std::optional<int> level,
                       const std::vector<int>& extrapolated);  // "level 3", "continuous time", …

struct ExactAnswer {
  std::string engine;
  std::optional<int> level;  // that was asked for; none: continuous time
  Evaluation value;
  States states;  // where they were asked for

  std::string steps() const { return steps_text(level, value.levels); }
  nlohmann::ordered_json settings(const Arguments&) const;  // the keys that all commands have
};

enum class Wanted { value, gradient, states };

// None: particles answer. Throws InputError where options contradict each other or the engine asked for refuses, and
// NumericalError where it was asked for and has no answer.
std::optional<ExactAnswer> exact_answer(const Arguments&, const Problem&, Wanted, World&);
}  // namespace mckean::cli
