// What went wrong in a task, in a form that can be sent to another process and thrown there.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace mckean {

// The run itself cannot go on: its store is damaged, full or held by another process, or machines disagree.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Failure {
  enum class Kind : int { none, stopped, input, numerical, memory, run, other } kind = Kind::none;
  std::string message;
};

// `where` is added to the message, unless it is empty.
Failure describe(const std::exception_ptr&, const std::string& where);

// Throws the exception of this kind.
[[noreturn]] void raise(const Failure&);
}  // namespace mckean
