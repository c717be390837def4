// A run: a fit that can be watched, killed, resumed and moved, as an object on disk.
//
//   World world;                                                   // in main
//   Run run = Run::create(world, folder, input, options);          // or Run::open(world, folder, options)
//   result = fit(run.input(), run.runner(), run.observer());       // the same on all ranks
//   run.finish(result);
//
// The fit asks run.runner() for tasks and decides from their results alone. Results that the store holds are handed out
// again, so a resumed run arrives at the same bits. Once options.interrupted says so, Stopped comes out of the runner.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mckean/tasks.hpp"
#include "mckean/world.hpp"

namespace mckean {

// What a run computes. Together with the program's version it determines the result.
struct RunInput {
  std::string settings = "{}";  // a JSON object: every option that matters, with its resolved value
  std::string model, data;      // the texts of the two files
};

// How it is computed: may differ when it is resumed.
struct RunOptions {
  std::size_t threads = 1;
  bool show_progress = true;
  bool verbose = false;  // messages on stderr too
  // Whether to stop. Asked several times a second while tasks run, by the thread that waits for them.
  std::function<bool()> interrupted = {};
};

class Run {
 public:
  // Collective. A folder that holds a run already is continued where the input is the same; where it differs, an
  // InputError shows both, as where the settings are no JSON object. RunError: another process works on it, or the
  // store is damaged or cannot be written.
  static Run create(World&, const std::filesystem::path& folder, const RunInput&, const RunOptions&);
  static Run open(World&, const std::filesystem::path& folder, const RunOptions&);
  // Nothing is kept on disk; all else is the same.
  static Run without_store(World&, const RunInput&, const RunOptions&);
  Run(Run&&) noexcept;
  Run& operator=(Run&&) = delete;
  ~Run();

  const RunInput& input() const;  // the same bytes on all ranks
  // Extends it: more replicates, a smaller tolerance. Only what leaves the results so far meaningful. The value is
  // JSON.
  void change_setting(const std::string& key, const std::string& value);

  void set_budget(double seconds);  // for all processes that work on the run one after another; see out_of_time
  void name_parameters(const std::vector<std::string>&);  // those of the estimates in the progress

  TaskRunner& runner();
  FitObserver& observer();
  void finish(const std::string& result);  // JSON

  double seconds() const;  // of all processes that worked on it
  // For whoever catches Stopped: the estimate so far, unless a table has it already, and how to go on.
  std::string stopped_text(bool with_estimate = true) const;
  const std::optional<FitObserver::Progress>& last_progress() const;
  const std::filesystem::path& folder() const;  // empty without a store

 private:
  class Parts;
  explicit Run(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

// Creates NAME-1, NAME-2, …: the first that is not there. Under MPI on rank 0 only: see World::from_first.
std::filesystem::path fresh_folder(const std::string& name);
}  // namespace mckean
