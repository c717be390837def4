// The input of a run in its store.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mckean/run.hpp"
#include "run/store.hpp"

namespace mckean {

// Texts that hold JSON. Throws InputError where they do not, or hold no object.
nlohmann::ordered_json object_of(const std::string& text);
nlohmann::ordered_json json_of(const std::string& text);
std::string text_of(const nlohmann::ordered_json&, int indent = -1);  // bytes that are no UTF-8 are replaced

Store::Words words_of(const RunInput&);  // together with versions, hashes and the time
RunInput read_input(const Store&);

// Throws InputError with both values where they differ.
void require_same(const std::string& folder, const RunInput& stored, const RunInput& given);
// The program that began the run is this one.
void require_same_program(const std::string& folder, const Store&);

std::string pack(const RunInput&);
RunInput unpack_input(const std::string&);
}  // namespace mckean
