// Preloaded into a program: its calendar clock jumps an hour back or forth each time it is asked.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {
std::time_t jump() {
  static std::atomic<unsigned> calls{0};
  return (calls++ % 2 ? 3600 : -3600);
}
}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* to) noexcept {
  const long status = syscall(SYS_clock_gettime, clock, to);
  if (status == 0 && clock == CLOCK_REALTIME) to->tv_sec += jump();
  return static_cast<int>(status);
}

extern "C" std::time_t time(std::time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
