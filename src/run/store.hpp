// A run on disk: one SQLite file. docs/run-store.md describes its tables.
//
// Every row is a transaction of its own, with a checksum: a result is in the store or it is not. In WAL mode with
// synchronous = NORMAL a transaction is a write without a flush: cheap, and safe against the death of the process;
// after a loss of power the last rows may be missing, and are computed again.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mckean/tasks.hpp"
#include "run/sqlite.hpp"

namespace mckean {

constexpr int kStoreFormat = 2;

class Store {
 public:
  using Mode = sqlite::Connection::Mode;
  using Words = std::vector<std::pair<std::string, std::string>>;
  static std::filesystem::path file_in(const std::filesystem::path& folder) { return folder / "run.sqlite"; }

  // With these words and no results. It is written beside its place and renamed: a store is there as a whole or not.
  static void create(const std::filesystem::path& folder, const Words&);
  // Checks the whole file. Throws RunError where it is damaged or of another format.
  Store(const std::filesystem::path& folder, Mode);

  // Words about the run: format, program, created, settings, model, data, state, result, seconds; and notes.
  void set(const std::string& key, const std::string& value);
  void set_all(const Words&);  // all or none
  std::optional<std::string> get(const std::string& key) const;
  std::string require(const std::string& key) const;
  Words words_with(const std::string& prefix) const;

  void put(const Task&, const std::vector<double>& value, double seconds);
  std::optional<std::vector<double>> find(const Task&) const;
  struct Row {
    Task task;
    std::vector<double> value;
    double seconds = 0;
  };
  void for_each_task(const std::function<void(const Row&)>&) const;  // by group, then index
  std::size_t task_count() const;

  void log(const std::string& message);
  struct Line {
    std::string time, message;
  };
  std::vector<Line> log_lines() const;

 private:
  void check() const;
  Row row_of(const sqlite::Statement&) const;
  [[noreturn]] void damaged(const std::string& what) const;

  sqlite::Connection connection_;
  std::unique_ptr<sqlite::Statement> insert_, select_;
};
}  // namespace mckean
