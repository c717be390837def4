#include "mckean/session.hpp"

#include "run/parallel.hpp"

namespace mckean {
namespace {

Run begin_run(World& world, const SessionOptions& o, const RunInput& input) {
  const RunOptions how{
      .threads = o.threads > 0 ? o.threads : all_cores(), .show_progress = false, .interrupted = o.interrupted};
  return o.folder.empty() ? Run::without_store(world, input, how) : Run::create(world, o.folder, input, how);
}
}  // namespace

// Tells the run and the observer that was given.
struct Session::Parts : FitObserver {
  Parts(const SessionOptions& o, const RunInput& input)
      : world(o.world), given(o.observer), run(begin_run(world ? *world : alone, o, input)) {}

  void message(std::string_view text) override {
    run.observer().message(text);
    if (given) given->message(text);
  }
  void decided(const std::string& phase, const Decisions& decisions) override {
    run.observer().decided(phase, decisions);
    if (given) given->decided(phase, decisions);
  }
  void progress(const Progress& p) override {
    run.observer().progress(p);
    if (given) given->progress(p);
  }

  World alone = World::alone();
  std::shared_ptr<World> world;
  std::shared_ptr<FitObserver> given;
  Run run;
};

Session::Session(const SessionOptions& options, const RunInput& input)
    : parts_(std::make_unique<Parts>(options, input)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

TaskRunner& Session::runner() { return parts_->run.runner(); }
FitObserver& Session::observer() { return *parts_; }
bool Session::first() const { return !parts_->world || parts_->world->first(); }
void Session::finish(const std::string& result) { parts_->run.finish(result); }
}  // namespace mckean
