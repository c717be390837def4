#include "run/sqlite.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "mckean/error.hpp"

namespace mckean::sqlite {
namespace {

std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the store is damaged and nothing is read from it; restore it from a copy, or begin the run anew "
             "elsewhere";
    case SQLITE_FULL:
      return "the disk is full; make room and resume: what was finished before is kept";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "it cannot be written; make the file and its folder writable and resume";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program has locked it; end that and resume";
    case SQLITE_CANTOPEN:
      return "it cannot be opened; check that the folder is there and writable, and the limit of open files (ulimit "
             "-n)";
    case SQLITE_NOMEM:
      return "not enough memory";
    default:
      return "see whether the disk works and resume; what was finished before is kept";
  }
}

// Nothing in a write-ahead log: nobody works on it. Told so, SQLite reads it in a folder that cannot be written, too,
// and leaves no files there.
bool at_rest(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file + "-wal", missing);
  return missing || size == 0;
}

std::string immutable(const std::string& file) {
  std::string out = "file:";
  for (const char c : file) out += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", c) : std::string(1, c);
  return out + "?immutable=1";
}
}  // namespace

Connection::Connection(const std::string& file, Mode mode) : file_(file) {
  const int flags = mode == Mode::read    ? SQLITE_OPEN_READONLY
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const std::string name = mode == Mode::read && at_rest(file) ? immutable(file) : file;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);  // a reader that is just reading
}

void Connection::execute(const char* sql) {
  const int code = sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Connection::fail(int code) const {
  throw RunError(fmt::format("{}: {} ({})", file_, advice(code), get() ? sqlite3_errmsg(get()) : sqlite3_errstr(code)));
}

Statement::Statement(const Connection& connection, const char* sql) : connection_(connection) {
  sqlite3_stmt* handle = nullptr;
  check(sqlite3_prepare_v2(connection.get(), sql, -1, &handle, nullptr));
  handle_.reset(handle);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) connection_.fail(code);
}

Statement& Statement::bind(std::string_view text) {
  check(sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();  // a null pointer would be NULL
  check(sqlite3_bind_blob64(handle_.get(), ++bound_, data, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    reset();
    connection_.fail(code);
  }
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  bound_ = 0;
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string();
}
}  // namespace mckean::sqlite
