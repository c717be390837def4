// Findings as warnings of the command line: in words, with the options that help.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mckean/finding.hpp"

namespace mckean::cli {

std::string warning_text(const Finding&);
std::vector<std::string> warning_texts(const Findings&);
nlohmann::ordered_json findings_json(const Findings&);  // an array: code, and the data by name
}  // namespace mckean::cli
