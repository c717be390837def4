#include "mckean/run.hpp"

#include <fmt/format.h>

#include <exception>

#include "mckean/error.hpp"
#include "run/run_input.hpp"
#include "run/run_parts.hpp"

namespace mckean {

Run Run::create(World& world, const std::filesystem::path& folder, const RunInput& input, const RunOptions& options) {
  auto parts = std::make_unique<Parts>(world, options);
  parts->input = unpack_input(world.from_first([&] {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw RunError(fmt::format("{}: cannot be created ({})", folder.string(), error.message()));
    parts->lock(folder);
    if (!std::filesystem::exists(Store::file_in(folder))) Store::create(folder, words_of(input));
    auto store = std::make_unique<Store>(folder, Store::Mode::write);
    require_same_program(folder.string(), *store);
    require_same(folder.string(), read_input(*store), input);
    parts->begin(std::move(store));
    return pack(input);
  }));
  return Run(std::move(parts));
}

Run Run::open(World& world, const std::filesystem::path& folder, const RunOptions& options) {
  auto parts = std::make_unique<Parts>(world, options);
  parts->input = unpack_input(world.from_first([&] {
    if (!std::filesystem::exists(Store::file_in(folder)))
      throw InputError(
          fmt::format("{}: holds no run; 'mckean runs' lists those in the current folder", folder.string()));
    parts->lock(folder);
    auto store = std::make_unique<Store>(folder, Store::Mode::write);
    require_same_program(folder.string(), *store);
    std::string input = pack(read_input(*store));
    parts->begin(std::move(store));
    return input;
  }));
  return Run(std::move(parts));
}

Run Run::without_store(World& world, const RunInput& input, const RunOptions& options) {
  auto parts = std::make_unique<Parts>(world, options);
  parts->input = unpack_input(world.from_first([&] {
    parts->begin(nullptr);
    return pack(input);
  }));
  return Run(std::move(parts));
}

Run::Run(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Run::Run(Run&&) noexcept = default;
Run::~Run() {
  if (!parts_ || std::uncaught_exceptions() == 0) return;
  try {
    parts_->abandon();
  } catch (const RunError&) {  // a store that cannot be written; the first failure is the one to tell
  }
}

const RunInput& Run::input() const { return parts_->input; }
TaskRunner& Run::runner() { return parts_->runner(); }
FitObserver& Run::observer() { return *parts_; }
std::string Run::stopped_text(bool with_estimate) const { return parts_->stopped_text(with_estimate); }
double Run::seconds() const { return parts_->seconds(); }
const std::optional<FitObserver::Progress>& Run::last_progress() const { return parts_->last_progress(); }
const std::filesystem::path& Run::folder() const { return parts_->folder(); }

void Run::set_budget(double seconds) { parts_->set_budget(seconds); }
void Run::name_parameters(const std::vector<std::string>& names) { parts_->name_parameters(names); }
void Run::change_setting(const std::string& key, const std::string& value) { parts_->change_setting(key, value); }
void Run::finish(const std::string& result) { parts_->finish(result); }

std::filesystem::path fresh_folder(const std::string& name) {
  for (int n = 1;; ++n) {
    std::filesystem::path folder = fmt::format("{}-{}", name, n);
    std::error_code error;
    if (std::filesystem::create_directory(folder, error)) return folder;
    if (error) throw RunError(fmt::format("{}: cannot be created ({})", folder.string(), error.message()));
  }
}
}  // namespace mckean
