// What the options of a fit mean: which estimator reads which, and the library's view of them.
#pragma once

#include "cli/options.hpp"
#include "mckean/fit.hpp"

namespace mckean::cli {

// Which estimator is meant where none is named: that of the options that only one of them reads. Throws InputError
// where engine and estimator contradict each other.
Arguments understood(const Arguments&);

// What to say of each flag that was given and that these settings have no use for.
std::vector<std::string> without_use(const Arguments& settings, const std::set<std::string>& given);

FitOptions fit_options(const Arguments&);  // throws InputError

// The command line that gives these settings, for copies of the two files with the given names.
std::string fit_command(const Arguments&, const std::string& model_file, const std::string& data_file);

// "90", "90s", "10m", "2h" in seconds. Throws InputError.
double parse_duration(const std::string&);
}  // namespace mckean::cli
