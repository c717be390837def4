// A run: a fit that can be watched, killed, resumed and moved, as an object on disk.
//
//   World world;
//   Run run = Run::create(world, dir, {settings, model text, data text}, options);   // or Run::open(world, dir,
//   options)
//   ... = fit(..., run.runner(), run.observer());                                     // the same on all ranks
//   run.finish(result);
//
// A fit asks run.runner() for tasks and decides from their results alone; results that the store holds are handed out
// again, so a resumed run arrives at the same bits. Stopped comes out of the runner after Ctrl-C.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "estimate/tasks.hpp"
#include "run/world.hpp"

namespace mckean {

// What a run computes. Together with the program's version it determines the result.
struct RunInput {
  nlohmann::ordered_json settings;  // an object: every option with its resolved value
  std::string model, data;          // the texts of the two files
};

// How it is computed: may differ when it is resumed.
struct RunOptions {
  std::size_t threads = 1;
  std::optional<double> budget;  // seconds, of all processes that worked on the run together
  enum class Show { nothing, progress } show = Show::progress;
  std::vector<std::string> parameter_names;  // for the line of progress
};

class Run {
 public:
  // Collective. A folder that holds a run already is continued where the input is the same; where it differs, the
  // InputError shows both. RunError: another process works on it, or the store is damaged or cannot be written.
  static Run create(World&, const std::filesystem::path&, const RunInput&, const RunOptions&);
  static Run open(World&, const std::filesystem::path&, const RunOptions&);
  // Without a folder nothing is kept; all else is the same.
  static Run without_store(World&, const RunInput&, const RunOptions&);
  Run(Run&&) noexcept;
  ~Run();

  const RunInput& input() const;  // the same bytes on all ranks
  // An extension: more replicates, a smaller tolerance. Only what leaves the tasks done so far meaningful.
  void change_setting(const std::string& key, const nlohmann::ordered_json& value);

  TaskRunner& runner();
  FitObserver& observer();
  void note(const std::string& key, const std::string& value);  // a decision to be kept: those of the pilot, warnings
  void finish(const nlohmann::ordered_json& result);

  double seconds() const;                                      // of all processes that worked on it
  std::optional<FitObserver::Progress> last_progress() const;  // what is known when it is stopped
  const std::filesystem::path& folder() const;

 private:
  struct Parts;
  explicit Run(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};
}  // namespace mckean
