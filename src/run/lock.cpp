#include "run/lock.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "mckean/error.hpp"

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

// A lock of the open file, not of the process: it goes with the last descriptor, however the process ends.
struct flock whole_file() {
  struct flock out {};
  out.l_type = F_WRLCK;
  out.l_whence = SEEK_SET;
  return out;
}

[[noreturn]] void refuse(const std::filesystem::path& folder, int error) {
  throw RunError(fmt::format("{}: cannot be written ({}); see whether there is room and the folder is writable",
                             path_of(folder), std::generic_category().message(error)));
}
}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))); }

FolderLock::FolderLock(const std::filesystem::path& folder) {
  file_ = ::open(path_of(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(folder, errno);
  struct flock lock = whole_file();
  if (fcntl(file_, F_OFD_SETLK, &lock) != 0) {
    const int error = errno;
    const std::string who = content(file_);
    ::close(file_);
    if (error != EAGAIN && error != EACCES) refuse(folder, error);
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
  struct flock lock = whole_file();
  if (fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) out = content(file);
  ::close(file);
  return out;
}
}  // namespace mckean
