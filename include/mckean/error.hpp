// The ways in which a request can fail.
#pragma once

#include <stdexcept>

namespace mckean {

// Something the user gave is wrong: a file, an option, a model. The message says what, where and what to do.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The input was understood, but the computation has no answer: overflow, weights that are all zero.
struct NumericalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The run itself cannot go on: its store is damaged, full or held by another process, or machines disagree.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace mckean
