// What went wrong in a task, in a form that can be sent to another process and thrown there.
#pragma once

#include <exception>
#include <string>

#include "mckean/error.hpp"

namespace mckean {

struct TaskFailure {
  enum class Kind : int { none, stopped, input, numerical, memory, run, other } kind = Kind::none;
  std::string message;
};

// `where` is added to the message, unless it is empty.
TaskFailure describe(const std::exception_ptr&, const std::string& where);

// Throws the exception of this kind.
[[noreturn]] void raise(const TaskFailure&);
}  // namespace mckean
