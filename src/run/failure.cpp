#include "run/failure.hpp"

#include <fmt/format.h>

#include <new>

#include "mckean/error.hpp"
#include "mckean/tasks.hpp"

namespace mckean {

TaskFailure describe(const std::exception_ptr& error, const std::string& where) {
  const auto told = [&](const std::exception& e) {
    return where.empty() ? e.what() : fmt::format("{} (in {})", e.what(), where);
  };
  using enum TaskFailure::Kind;
  try {
    std::rethrow_exception(error);
  } catch (const Stopped&) {
    return {stopped, ""};
  } catch (const InputError& e) {
    return {input, told(e)};
  } catch (const NumericalError& e) {
    return {numerical, told(e)};
  } catch (const RunError& e) {
    return {run, e.what()};
  } catch (const std::bad_alloc&) {
    return {memory, ""};
  } catch (const std::exception& e) {
    return {other, told(e)};
  } catch (...) {
    return {other, where.empty() ? "unknown exception" : fmt::format("unknown exception (in {})", where)};
  }
}

void raise(const TaskFailure& failure) {
  switch (failure.kind) {
    case TaskFailure::Kind::stopped:
      throw Stopped{};
    case TaskFailure::Kind::input:
      throw InputError(failure.message);
    case TaskFailure::Kind::numerical:
      throw NumericalError(failure.message);
    case TaskFailure::Kind::run:
      throw RunError(failure.message);
    case TaskFailure::Kind::memory:
      throw std::bad_alloc();
    case TaskFailure::Kind::none:
    case TaskFailure::Kind::other:
      break;
  }
  throw std::runtime_error(failure.message);
}
}  // namespace mckean
