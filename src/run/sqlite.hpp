// As much of SQLite as the run store needs: a connection and prepared statements that throw.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mckean::sqlite {

// Used by one thread at a time.
class Connection {
 public:
  enum class Mode { create, write, read };
  Connection(const std::string& file, Mode);
  void execute(const char* sql);
  sqlite3* get() const { return handle_.get(); }
  const std::string& file() const { return file_; }
  // Throws RunError: what SQLite said, and what to do about it.
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
 public:
  Statement(const Connection&, const char* sql);

  Statement& bind(std::string_view text);  // parameters from left to right
  Statement& bind_blob(std::string_view bytes);
  Statement& bind(std::int64_t);
  Statement& bind(double);
  bool step();  // true: there is a row
  void run();   // to the end; ready to be bound again

  std::string text(int column) const;  // of a blob: its bytes
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void check(int code) const;
  void reset();

  const Connection& connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};
}  // namespace mckean::sqlite
