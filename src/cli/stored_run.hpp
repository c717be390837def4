// What can be said of a run without working on it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/store.hpp"

namespace mckean::cli {

struct StoredRun {
  std::filesystem::path folder;
  std::string state;    // running, stopped, interrupted (killed), finished, failed, damaged
  std::string comment;  // who works on it, or what is wrong
  std::string program, created;
  double seconds = 0;
  std::size_t tasks = 0;
  struct Estimate {
    std::string name;
    double value = 0, mc_se = 0;
  };
  std::vector<Estimate> estimates;  // so far
};

void require_run(const std::filesystem::path& folder);           // throws InputError
StoredRun read_stored_run(const std::filesystem::path& folder);  // a damaged one is described as such
nlohmann::ordered_json to_json(const StoredRun&);
// With settings, notes, result and log: all but the tasks.
nlohmann::ordered_json run_json(const StoredRun&, const Store&);
}  // namespace mckean::cli
