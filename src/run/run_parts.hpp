// What a run is made of, and how its parts serve each other: the runner asks for what the store has and tells what is
// to be kept in it, and both tell the line of progress.
#pragma once

#include <fmt/format.h>

#include <chrono>

#include "mckean/run.hpp"
#include "run/failure.hpp"
#include "run/lock.hpp"
#include "run/mpi_runner.hpp"
#include "run/progress.hpp"
#include "run/run_input.hpp"
#include "run/store.hpp"
#include "run/thread_runner.hpp"

namespace mckean {

// Lock, store and line are there on rank 0 only.
class Run::Parts : public Keeper, public FitObserver {
 public:
  using Json = nlohmann::ordered_json;

  Parts(World& w, const RunOptions& o) : world_(w), options_(o) {
    if (w.size() > 1)
      runner_ = std::make_unique<MpiRunner>(w, o.threads, *this);
    else
      runner_ = std::make_unique<ThreadRunner>(o.threads, *this);
  }

  void lock(const std::filesystem::path& folder) {
    lock_.emplace(folder);
    folder_ = folder;
  }

  void begin(std::unique_ptr<Store> store) {
    std::size_t known = 0;
    if (store) {
      known = store->task_count();
      seconds_before_ = std::stod(store->get("seconds").value_or("0"));
      out_of_time_at_ = std::stoul(store->get("out_of_time").value_or("0"));
      state_ = store->require("state");
      store_ = std::move(store);
      if (state_ != "finished") set_state("running");  // a finished run may have nothing left to do
      store_->log(fmt::format("begun: {} rank(s), {} thread(s) each, {} results in the store", world_.size(),
                              options_.threads, known));
    }
    line_.emplace(options_.show_progress, known);
  }

  // Keeper
  std::optional<std::vector<double>> recall(const Task& task) override {
    return store_ ? store_->find(task) : std::nullopt;
  }
  void keep(const Task& task, const std::vector<double>& value, double seconds) override {
    if (store_) store_->put(task, value, seconds);
    if (state_ == "finished") set_state("running");
    ++computed_;
    if (line_) line_->finished(task.cost);
  }
  void waiting() override {
    if (line_) line_->tick();
    if (Clock::now() - saved_ > kSavePause) save();
  }
  bool stop_requested() override { return options_.interrupted && options_.interrupted(); }
  void completed() override {
    if (state_ == "failed") set_state("running");  // the fit can do without a batch that failed before
  }
  void failed(const std::exception_ptr& why) override {
    const TaskFailure failure = describe(why, "");
    try {
      save();
      set_state(failure.kind == TaskFailure::Kind::stopped ? "stopped" : "failed");
      if (store_) store_->log(failure.kind == TaskFailure::Kind::stopped ? "stopped" : "failed: " + failure.message);
    } catch (const RunError&) {  // a store that cannot be written; the first failure is the one to tell
    }
    if (line_) line_->clear();
  }
  // The answer is remembered: a run that ended for want of time ends at the same place when it is looked at again.
  bool out_of_time() override {
    const std::string answer = world_.from_first([&]() -> std::string {
      ++asked_;
      if (out_of_time_at_ == 0 && budget_ && seconds() >= *budget_) {
        out_of_time_at_ = asked_;
        if (store_) store_->set("out_of_time", std::to_string(asked_));
      }
      return out_of_time_at_ > 0 && asked_ >= out_of_time_at_ ? "yes" : "no";
    });
    return answer == "yes";
  }

  // FitObserver
  void message(std::string_view text) override {
    if (store_) store_->log(std::string(text));
    if (!options_.verbose || !world_.first()) return;
    if (line_) line_->clear();
    fmt::print(stderr, "[{:7.1f} s] {}\n", seconds(), text);
  }
  void decided(const std::string& phase, const Decisions& decisions) override {
    if (!store_) return;
    Json note = Json::object();
    for (const auto& [name, values] : decisions) note[name] = values;
    store_->set("note " + phase, text_of(note));
  }
  void progress(const Progress& p) override {
    progress_ = p;
    if (line_) line_->update(p);
    if (Clock::now() - saved_ > kSavePause) save();
  }

  void set_budget(double seconds) {
    budget_ = seconds;
    if (seconds > seconds_before_) out_of_time_at_ = 0;  // it was extended
  }
  void name_parameters(const std::vector<std::string>& names) {
    names_ = names;
    if (line_) line_->name_parameters(names);
  }
  void change_setting(const std::string& key, const std::string& value) {
    Json settings = object_of(input.settings);
    const std::string before = settings.contains(key) ? text_of(settings[key]) : "not set";
    settings[key] = json_of(value);
    input.settings = text_of(settings);
    if (!store_ || before == text_of(settings[key])) return;
    store_->set("settings", text_of(settings, 2));
    store_->log(fmt::format("{} changed from {} to {}", key, before, text_of(settings[key])));
  }
  void finish(const std::string& result) {
    if (line_) line_->clear();
    if (!store_) return;
    save();
    store_->set_all({{"result", text_of(json_of(result))}, {"state", "finished"}});
    state_ = "finished";
    const auto traffic = world_.traffic();
    store_->log(fmt::format("finished: {} tasks computed by this process and its ranks, {} messages, {} bytes",
                            computed_, traffic.messages, traffic.bytes));
  }
  double seconds() const { return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::string stopped_text(bool with_estimate) const {
    std::string out = fmt::format("stopped after {}", duration_text(seconds()));
    for (std::size_t p = 0; with_estimate && progress_ && p < progress_->estimate.size(); ++p) {
      out += fmt::format("{}{} = {:.6g}", p == 0 ? "; so far " : ", ", p < names_.size() ? names_[p] : "?",
                         progress_->estimate[p]);
      if (p < progress_->mc_se.size()) out += fmt::format(" +- {:.2g}", progress_->mc_se[p]);
    }
    return folder_.empty() ? out : out + fmt::format("; continue with 'mckean resume {}'", folder_.string());
  }

  // The fit itself threw, between batches.
  void abandon() {
    if (state_ == "running") set_state("failed");
  }

  RunInput input;
  TaskRunner& runner() { return *runner_; }
  const std::optional<Progress>& last_progress() const { return progress_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kSavePause = std::chrono::seconds(2);  // of the time used and the estimate so far

  void set_state(const std::string& state) {
    if (store_ && state != state_) store_->set("state", state);
    state_ = state;
  }
  void save() {
    saved_ = Clock::now();
    if (!store_) return;
    store_->set("seconds", fmt::format("{:.3f}", seconds()));
    if (progress_)
      store_->set("progress", text_of({{"phase", progress_->phase},
                                       {"done", progress_->done},
                                       {"planned", progress_->planned},
                                       {"parameters", names_},
                                       {"estimate", progress_->estimate},
                                       {"mc_se", progress_->mc_se}}));
  }

  World& world_;
  RunOptions options_;
  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;
  std::unique_ptr<Store> store_;
  std::optional<ProgressLine> line_;
  std::unique_ptr<TaskRunner> runner_;
  std::optional<Progress> progress_;
  std::string state_;
  std::vector<std::string> names_;  // of the parameters
  std::optional<double> budget_;
  double seconds_before_ = 0;
  std::uint64_t asked_ = 0, out_of_time_at_ = 0, computed_ = 0;
  Clock::time_point start_ = Clock::now(), saved_ = start_;
};
}  // namespace mckean
