// Where work runs: on which threads and ranks, what is kept of it, who watches it and who may stop it.
//
//   Session session({.threads = 4, .interrupted = [] { return asked_to_stop; }});
//   result = estimate_score(model, data, theta, options, session.runner());
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "mckean/run.hpp"

namespace mckean {

struct SessionOptions {
  std::size_t threads = 0;                     // of each process; 0: one for each core
  std::filesystem::path folder = {};           // that keeps what is computed, to go on from there; empty: none does
  std::shared_ptr<FitObserver> observer = {};  // told what a fit tells
  std::function<bool()> interrupted = {};      // see RunOptions
  std::shared_ptr<World> world = {};           // the ranks that mpirun started; empty: this process alone
};

// Writes nothing to the terminal, and touches no signal.
class Session {
 public:
  // Collective. Work in a folder goes on where it holds the same input; see Run::create for what is thrown.
  explicit Session(const SessionOptions& = {}, const RunInput& = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  TaskRunner& runner();
  FitObserver& observer();
  bool first() const;                             // whether this is the rank that tells of results
  void finish(const std::string& result = "{}");  // JSON, kept in the folder

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
}  // namespace mckean
