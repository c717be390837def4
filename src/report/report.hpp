// A run as one HTML file that needs nothing else: no network, no script.
#pragma once

#include <string>

#include "report/facts.hpp"

namespace mckean::report {

// The same bytes for the same run, for any number of threads.
std::string make_report(const Input&);
}  // namespace mckean::report
