// The ways in which a request can end without an answer.
#pragma once

#include <exception>
#include <stdexcept>

namespace mckean {

// Something the user gave is wrong: a file, an option, a model. The message says what, where and what to do.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The same of a setting of an algorithm, whose name stands first in the message: "law_particles 0: …".
struct SettingError : InputError {
  using InputError::InputError;
};

// The input was understood, but the computation has no answer: overflow, weights that are all zero.
struct NumericalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Someone asked for an end; everything finished is kept by whoever ran it. Not a failure, hence no runtime_error.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped on request"; }
};

// The run itself cannot go on: its store is damaged, full or held by another process, or machines disagree.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace mckean
