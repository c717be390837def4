#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/stored_run.hpp"
#include "model/number.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// A row a task; as many columns of values as the longest result has.
std::string tasks_csv(const Store& store) {
  std::size_t width = 0;
  store.for_each_task([&](const Store::Row& row) { width = std::max(width, row.value.size()); });
  std::string out = "group,index,cost,seconds";
  for (std::size_t k = 1; k <= width; ++k) out += fmt::format(",value_{}", k);
  out += "\n";
  store.for_each_task([&](const Store::Row& row) {
    out += fmt::format("{},{},{},{}", csv_field(row.task.group), row.task.index, number_to_text(row.task.cost),
                       number_to_text(row.seconds));
    for (std::size_t k = 0; k < width; ++k) out += "," + (k < row.value.size() ? number_to_text(row.value[k]) : "");
    out += "\n";
  });
  return out;
}

void save_run(const Arguments& o) {
  const std::filesystem::path folder = o.folder, out = o.out.empty() ? folder : std::filesystem::path(o.out);
  require_run(folder);
  const Store store(folder, Store::Mode::read);
  const std::vector<std::pair<std::string, std::string>> files = {
      {(out / "tasks.csv").string(), tasks_csv(store)},
      {(out / "run.json").string(), run_json(read_stored_run(folder), store).dump(2) + "\n"},
      {(out / "model.toml").string(), store.require("model")},
      {(out / "data.csv").string(), store.require("data")}};
  Json names = Json::array();
  std::error_code none;
  std::filesystem::create_directories(out, none);
  for (const auto& [name, text] : files) {
    write_file(name, text);
    names.push_back(name);
    if (!o.json) fmt::print("wrote {}\n", name);
  }
  if (o.json) print_json({{"out", names}, {"tasks", store.task_count()}});
}
}  // namespace

void run_export(const Arguments& o, World& world) {
  world.on_first([&] { save_run(o); });
}
}  // namespace mckean::cli
