// What all subcommands share: checks of options, and how results are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "mckean/world.hpp"

namespace mckean::cli {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Checks of an option's text.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator positive_number();

constexpr std::uint64_t kMostParticles = 1'000'000'000, kMostRepeats = 1'000'000, kMostThreads = 1024,
                        kMostIterations = 1'000'000'000;

// One JSON object on stdout.
void print_json(const nlohmann::ordered_json&);
nlohmann::ordered_json parameters_json(const Model&, const std::vector<double>& theta);  // name: value

// Writes the whole file or none of it; "-" is stdout. Throws InputError.
void write_file(const std::string& path, const std::string& text);
void require_writable(const std::string& path);  // before a long computation

// Thrown once a result is printed that is not to be relied on.
struct Unreliable {};

// A command of the program, with what --help says of it.
struct CommandEntry {
  Command::Bits bit;
  const char* name;
  const char* description;
  void (*run)(const Arguments&, World&);  // on all ranks
};
std::span<const CommandEntry> commands();

void run_new(const Arguments&, World&);
void run_check(const Arguments&, World&);
void run_simulate(const Arguments&, World&);
void run_loglik(const Arguments&, World&);
void run_score(const Arguments&, World&);
void run_smooth(const Arguments&, World&);
void run_fit(const Arguments&, World&);  // resume as well
void run_profile(const Arguments&, World&);
void run_export(const Arguments&, World&);
void run_report(const Arguments&, World&);
void run_runs(const Arguments&, World&);
void run_reproduce(const Arguments&, World&);
}  // namespace mckean::cli
