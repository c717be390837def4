#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/stored_run.hpp"
#include "run/progress.hpp"

namespace mckean::cli {
namespace {

// The folder itself, or those in it.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw InputError(fmt::format("{}: is no folder; give one that holds runs", folder.string()));
  if (std::filesystem::exists(Store::file_in(folder))) return {folder};
  std::vector<std::filesystem::path> out;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(Store::file_in(entry.path()), none))
      out.push_back(folder == "." ? entry.path().filename() : entry.path());
  std::ranges::sort(out);
  return out;
}

void list_runs(const Arguments& o) {
  std::vector<StoredRun> runs;
  for (const auto& folder : runs_in(o.folder)) runs.push_back(read_stored_run(folder));
  if (o.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& r : runs) all.push_back(to_json(r));
    return print_json({{"runs", all}});
  }
  if (runs.empty()) return fmt::print("no runs in {}\n", o.folder);
  std::size_t width = 3;
  for (const auto& r : runs) width = std::max(width, r.folder.string().size());
  fmt::print("{:<{}}  {:<11}  {:<23}  {:>7}  {:>14}  estimate\n", "run", width, "state", "begun", "tasks", "time");
  for (const auto& r : runs) {
    std::string estimate = r.comment;
    for (const auto& e : r.estimates)
      estimate += fmt::format("{}{} = {:.5g}{}", estimate.empty() ? "" : ", ", e.name, e.value,
                              e.mc_se > 0 ? fmt::format(" +- {:.2g}", e.mc_se) : "");
    fmt::print("{:<{}}  {:<11}  {:<23}  {:>7}  {:>14}  {}\n", r.folder.string(), width, r.state, r.created, r.tasks,
               duration_text(r.seconds), estimate);
  }
}
}  // namespace

void run_runs(const Arguments& o, World& world) {
  world.on_first([&] { list_runs(o); });
}
}  // namespace mckean::cli
