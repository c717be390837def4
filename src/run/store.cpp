#include "run/store.hpp"

#include <fmt/format.h>

#include <cstring>

#include "mckean/error.hpp"
#include "run/hash.hpp"
#include "run/lock.hpp"

namespace mckean {
namespace {

using sqlite::Statement;

std::string bytes_of(const std::vector<double>& values) {
  std::string out(values.size() * sizeof(double), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::vector<double> doubles_of(const std::string& bytes) {
  std::vector<double> out(bytes.size() / sizeof(double));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(double));
  return out;
}

// Over everything that a row says.
std::int64_t checksum_of(const Task& task, const std::string& value, double seconds) {
  return checksum(fmt::format("{}\n{}\n{}\n{}\n", task.group, task.index, task.cost, seconds) + value);
}

std::int64_t checksum_of(const std::string& key, const std::string& value) { return checksum(key + "\n" + value); }

constexpr const char* kColumns = "SELECT grp, idx, value, cost, seconds, checksum FROM task";
constexpr const char* kSetWord = "INSERT OR REPLACE INTO word VALUES (?, ?, ?)";

void set_word(const sqlite::Connection& connection, const std::string& key, const std::string& value) {
  Statement(connection, kSetWord).bind(key).bind(value).bind(checksum_of(key, value)).run();
}
}  // namespace

void Store::create(const std::filesystem::path& folder, const Words& words) {
  const std::filesystem::path part = folder / "run.sqlite.part";
  std::error_code error;
  std::filesystem::remove(part, error);  // of a process that was killed
  std::filesystem::remove(part.string() + "-journal", error);
  {
    sqlite::Connection connection(part.string(), Mode::create);
    connection.execute(
        "BEGIN IMMEDIATE;"
        "CREATE TABLE word (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE task (grp TEXT, idx INTEGER, value BLOB NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL,"
        " checksum INTEGER NOT NULL, PRIMARY KEY (grp, idx)) WITHOUT ROWID;"
        "CREATE TABLE log (id INTEGER PRIMARY KEY, time TEXT NOT NULL, message TEXT NOT NULL)");
    for (const auto& [key, value] : words) set_word(connection, key, value);
    connection.execute("COMMIT");
  }
  std::filesystem::rename(part, file_in(folder), error);
  if (error) throw RunError(fmt::format("{}: cannot be written ({})", file_in(folder).string(), error.message()));
}

Store::Store(const std::filesystem::path& folder, Mode mode) : connection_(file_in(folder).string(), mode) {
  if (mode != Mode::read) {
    connection_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (sqlite3_db_readonly(connection_.get(), "main") == 1) connection_.fail(SQLITE_READONLY);
  }
  check();
  if (mode != Mode::read)
    insert_ = std::make_unique<Statement>(connection_, "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)");
  select_ = std::make_unique<Statement>(
      connection_, "SELECT grp, idx, value, cost, seconds, checksum FROM task WHERE grp = ? AND idx = ?");
}

void Store::check() const {
  Statement pages(connection_, "PRAGMA quick_check(1)");
  if (!pages.step() || pages.text(0) != "ok") damaged(pages.text(0));
  Statement tables(connection_, "SELECT count(*) FROM sqlite_schema WHERE name IN ('word', 'task', 'log')");
  if (!tables.step() || tables.integer(0) != 3) damaged("tables are missing");
  const auto format = get("format");
  if (format && *format != std::to_string(kStoreFormat))
    throw RunError(fmt::format("{}: has format {}, and this program reads format {}; {}, which made it, can read it",
                               connection_.file(), *format, kStoreFormat, get("program").value_or("the program")));
}

void Store::damaged(const std::string& what) const {
  throw RunError(fmt::format(
      "{}: the store is damaged and nothing is read from it; restore it from a copy, or begin the run anew elsewhere "
      "({})",
      connection_.file(), what));
}

void Store::set(const std::string& key, const std::string& value) { set_word(connection_, key, value); }

void Store::set_all(const Words& words) {
  connection_.execute("BEGIN IMMEDIATE");
  try {
    for (const auto& [key, value] : words) set(key, value);
    connection_.execute("COMMIT");
  } catch (const RunError&) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

std::optional<std::string> Store::get(const std::string& key) const {
  Statement row(connection_, "SELECT value, checksum FROM word WHERE key = ?");
  row.bind(key);
  if (!row.step()) return std::nullopt;
  if (row.integer(1) != checksum_of(key, row.text(0))) damaged(fmt::format("'{}' differs from its checksum", key));
  return row.text(0);
}

std::string Store::require(const std::string& key) const {
  auto value = get(key);
  if (!value) damaged(fmt::format("'{}' is missing", key));
  return *value;
}

Store::Words Store::words_with(const std::string& prefix) const {
  Statement row(connection_, "SELECT key FROM word WHERE substr(key, 1, ?) = ? ORDER BY key");
  row.bind(static_cast<std::int64_t>(prefix.size())).bind(prefix);
  Words out;
  while (row.step()) out.emplace_back(row.text(0), require(row.text(0)));
  return out;
}

void Store::put(const Task& task, const std::vector<double>& value, double seconds) {
  const std::string bytes = bytes_of(value);
  insert_->bind(task.group)
      .bind(static_cast<std::int64_t>(task.index))
      .bind_blob(bytes)
      .bind(task.cost)
      .bind(seconds)
      .bind(checksum_of(task, bytes, seconds))
      .run();
}

Store::Row Store::row_of(const Statement& row) const {
  Row out{{row.text(0), static_cast<std::uint32_t>(row.integer(1)), row.real(3)}, {}, row.real(4)};
  const std::string bytes = row.text(2);
  if (row.integer(5) != checksum_of(out.task, bytes, out.seconds))
    damaged(fmt::format("the result of {} {} differs from its checksum", out.task.group, out.task.index));
  out.value = doubles_of(bytes);
  return out;
}

std::optional<std::vector<double>> Store::find(const Task& task) const {
  select_->bind(task.group).bind(static_cast<std::int64_t>(task.index));
  std::optional<std::vector<double>> out;
  if (select_->step()) out = row_of(*select_).value;
  select_->run();
  return out;
}

void Store::for_each_task(const std::function<void(const Row&)>& visit) const {
  Statement row(connection_, fmt::format("{} ORDER BY grp, idx", kColumns).c_str());
  while (row.step()) visit(row_of(row));
}

std::size_t Store::task_count() const {
  Statement row(connection_, "SELECT count(*) FROM task");
  row.step();
  return static_cast<std::size_t>(row.integer(0));
}

void Store::log(const std::string& message) {
  Statement(connection_, "INSERT INTO log (time, message) VALUES (?, ?)").bind(utc_now()).bind(message).run();
}

std::vector<Store::Line> Store::log_lines() const {
  Statement row(connection_, "SELECT time, message FROM log ORDER BY id");
  std::vector<Line> out;
  while (row.step()) out.push_back({row.text(0), row.text(1)});
  return out;
}
}  // namespace mckean
