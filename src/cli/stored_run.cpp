#include "cli/stored_run.hpp"

#include <fmt/format.h>

#include "mckean/error.hpp"
#include "run/lock.hpp"

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

double number_or_zero(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

// Of the result, or of the last progress where there is none.
std::vector<StoredRun::Estimate> estimates_of(const Store& store) {
  std::vector<StoredRun::Estimate> out;
  if (const auto result = store.get("result")) {
    const Json object = Json::parse(*result);
    if (!object.contains("estimate")) return out;
    for (const auto& [name, e] : object["estimate"].items())
      out.push_back({name, number_or_zero(e.value("value", Json())), number_or_zero(e.value("mc_se", Json()))});
  } else if (const auto progress = store.get("progress")) {
    const Json object = Json::parse(*progress);
    const Json &names = object["parameters"], &values = object["estimate"], &errors = object["mc_se"];
    for (std::size_t p = 0; p < values.size(); ++p)
      out.push_back({p < names.size() ? names[p].get<std::string>() : "", number_or_zero(values[p]),
                     p < errors.size() ? number_or_zero(errors[p]) : 0});
  }
  return out;
}
}  // namespace

void require_run(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(Store::file_in(folder)))
    throw InputError(fmt::format("{}: holds no run; 'mckean runs' lists those in the current folder", folder.string()));
}

StoredRun read_stored_run(const std::filesystem::path& folder) {
  StoredRun out;
  out.folder = folder;
  const auto holder = FolderLock::holder(folder);
  try {
    const Store store(folder, Store::Mode::read);
    out.state = store.require("state");
    if (out.state == "running" && !holder) out.state = "interrupted";
    out.program = store.require("program");
    out.created = store.require("created");
    out.seconds = std::stod(store.require("seconds"));
    out.tasks = store.task_count();
    out.estimates = estimates_of(store);
    if (holder) out.comment = *holder;
  } catch (const RunError& e) {
    out.state = "damaged";
    out.comment = e.what();
  } catch (const Json::exception& e) {
    out.state = "damaged";
    out.comment = e.what();
  }
  return out;
}

Json to_json(const StoredRun& run) {
  Json estimate = Json::object();
  for (const auto& e : run.estimates) estimate[e.name] = {{"value", e.value}, {"mc_se", e.mc_se}};
  return {{"run", run.folder.string()}, {"state", run.state},     {"comment", run.comment}, {"program", run.program},
          {"created", run.created},     {"seconds", run.seconds}, {"tasks", run.tasks},     {"estimate", estimate}};
}

Json run_json(const StoredRun& run, const Store& store) {
  Json notes = Json::object(), log = Json::array();
  for (const auto& [key, value] : store.words_with("note ")) notes[key.substr(5)] = Json::parse(value);
  for (const auto& line : store.log_lines()) log.push_back({{"time", line.time}, {"message", line.message}});
  const auto result = store.get("result");
  Json out = to_json(run);
  out["settings"] = Json::parse(store.require("settings"));
  out["model_sha256"] = store.require("model_sha256");
  out["data_sha256"] = store.require("data_sha256");
  out["notes"] = notes;
  out["result"] = result ? Json::parse(*result) : Json(nullptr);
  out["log"] = log;
  return out;
}
}  // namespace mckean::cli
