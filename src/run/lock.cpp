#include "run/lock.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "run/failure.hpp"

namespace mckean {
namespace {

std::string path_of(const std::filesystem::path& folder) { return (folder / "lock").string(); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

std::string content(int file) {
  std::array<char, 512> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "a process that has not said who it is";
}

[[noreturn]] void refuse(const std::filesystem::path& folder, int error) {
  throw RunError(fmt::format("{}: cannot be written ({}); make the folder writable, or see what the message asks for",
                             path_of(folder), std::generic_category().message(error)));
}
}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))); }

FolderLock::FolderLock(const std::filesystem::path& folder) {
  file_ = ::open(path_of(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(folder, errno);
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string who = content(file_);
    ::close(file_);
    if (error != EWOULDBLOCK) refuse(folder, error);
    throw RunError(fmt::format("{}: {} works on this run; wait for it, or end it and resume", folder.string(), who));
  }
  const std::string who = fmt::format("process {} on {}, since {}", getpid(), host_name(), utc_now());
  if (ftruncate(file_, 0) != 0 || pwrite(file_, who.data(), who.size(), 0) != static_cast<ssize_t>(who.size())) {
    const int error = errno;
    ::close(file_);
    refuse(folder, error);
  }
}

FolderLock::~FolderLock() { ::close(file_); }

std::optional<std::string> FolderLock::holder(const std::filesystem::path& folder) {
  const int file = ::open(path_of(folder).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::string> out;
  if (flock(file, LOCK_SH | LOCK_NB) != 0) out = content(file);
  ::close(file);
  return out;
}
}  // namespace mckean
