// One process at a time works on a run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace mckean {

// Held until destruction or the death of the process, however it dies; the file stays.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);  // RunError: who holds it
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // "process 4711 on node3, since 2024-05-01 12:00:00 UTC", where one holds it now.
  static std::optional<std::string> holder(const std::filesystem::path& folder);

 private:
  int file_ = -1;
};

std::string utc_now();
}  // namespace mckean
