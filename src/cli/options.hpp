// The options of all commands, in one table. From it come the flags and their help, the settings that are stored with a
// fit, what is said of options without effect, and the command line that repeats a fit.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <variant>

#include "cli/arguments.hpp"

namespace mckean::cli {

struct Command {
  enum Bits : unsigned {
    create = 1,  // `new`
    check = 2,
    simulate = 4,
    loglik = 8,
    score = 16,
    smooth = 32,
    fit = 64,
    profile = 128,
    resume = 256,
    save = 512,  // `export`
    report = 1024,
    runs = 2048,
    reproduce = 4096
  };
};

// What a fit or a profile is computed by: an estimator, or the engine that needs none.
struct Reader {
  enum Bits : unsigned { search = 1, quadrature = 2, stratified = 4, paper = 8, single = 16, all = 31 };
};

struct Option {
  using Member = std::variant<std::string Arguments::*, std::vector<std::string> Arguments::*, bool Arguments::*,
                              std::uint64_t Arguments::*, double Arguments::*, std::optional<int> Arguments::*>;
  struct Details {
    std::string fallback = {};                 // its default; empty: what the member holds at first
    std::optional<CLI::Validator> check = {};  // of the text
    const char* key = nullptr;                 // in the settings of a fit; none: no setting
    unsigned readers = Reader::all;            // of fit and profile, those that have a use for it
    bool required = false;
    const char* excludes = nullptr;  // a flag above it in the table, which may not be given as well
  };
  std::string flag;   // "--levels"; MODEL: by its place; empty: stored, but not on the command line
  Member member;      // of Arguments, where its value goes
  unsigned commands;  // that take it
  Details details;
  std::string help;
};
const std::vector<Option>& options();

// The options that a command takes; what is parsed goes into the arguments, which begin as its defaults.
void add_options(CLI::App& command, Command::Bits, Arguments&);

Arguments defaults(Command::Bits);

// Everything that the result of a fit depends on, and back. Throws InputError where a run is none of `mckean fit`.
nlohmann::ordered_json settings_json(const Arguments&);
Arguments read_settings(const nlohmann::ordered_json&);
nlohmann::ordered_json value_json(const Option&, const Arguments&);

// The command line of a fit with these settings, for copies of the two files with the given names: what differs from
// `usual`, and the seed in any case.
std::string command_line(const Arguments&, const Arguments& usual, const std::string& model, const std::string& data);
}  // namespace mckean::cli
