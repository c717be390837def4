// Independent tasks on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace mckean {

std::size_t all_cores();

// task(i) for i = 0 .. count − 1, in any order, on at most `threads` threads. Where tasks throw, no new ones begin
// and the exception of the lowest number is thrown here: the same one for any number of threads, since tasks are
// begun in order.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& task);
}  // namespace mckean
