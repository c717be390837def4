// What a fit is told: the options of `fit`, as they are stored with a run and taken up again by `resume`.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/chain_options.hpp"

namespace mckean::cli {

struct FitSettings : ChainCommand {
  FitSettings();
  void add_to(CLI::App&);

  std::string engine = "auto", estimator = "search", levels, step, most_p;
  std::string level_weight = "2^(-l/4)", length_weight = "2^-p*(p + 1)*log(p + 2)^2", chain_length = "2^p";
  std::size_t replicates = 0, iterations = 0, starts = 0;  // 0: to be chosen
  double tolerance = 0;
  double first_tolerance = 0;  // with which the run began: what the pilot decides must not change when it is extended
  std::string budget;
  bool quiet = false, verbose = false;  // these two, and the number of threads, are no settings of the run

  // Which estimator is meant where none is named: that of the options that only one of them reads. Throws InputError
  // where engine and estimator contradict each other.
  void understand(const CLI::App& command);

  // What to say of each option that was given and that the estimator has no use for.
  std::vector<std::string> without_use(const CLI::App& command) const;

  FitOptions options() const;  // throws InputError

  // Everything that the result depends on.
  nlohmann::ordered_json to_json() const;
  static FitSettings from_json(const nlohmann::ordered_json&);
  // The command line that gives these settings, for copies of the two files with the given names.
  std::string command(const std::string& model_file, const std::string& data_file) const;
};

// "90", "90s", "10m", "2h" in seconds. Throws InputError.
double parse_duration(const std::string&);
}  // namespace mckean::cli
