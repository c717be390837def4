// What all subcommands share: the options every command takes, and how results are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mckean/model.hpp"

namespace mckean::cli {

struct CommonOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> set;
  bool json = false;

  void add_to(CLI::App&);
  Overrides overrides() const;  // throws InputError
};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One JSON object on stdout.
void print_json(const nlohmann::ordered_json&);

// Writes the whole file or none of it; "-" is stdout. Throws InputError.
void write_file(const std::string& path, const std::string& text);

// Each adds its subcommand, which runs when it was parsed.
void add_new(CLI::App&);
void add_check(CLI::App&);
void add_simulate(CLI::App&);
void add_loglik(CLI::App&);
}  // namespace mckean::cli
