#include "run/run_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "mckean/error.hpp"
#include "run/hash.hpp"
#include "run/lock.hpp"

namespace mckean {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Json& object, const std::string& key) {
  return object.contains(key) ? text_of(object[key]) : "not set";
}

std::string settings_difference(const Json& stored, const Json& given) {
  std::string out;
  const auto compare = [&](const std::string& key) {
    if (shown(stored, key) != shown(given, key))
      out += fmt::format("\n    {}: {} in the run, {} now", key, shown(stored, key), shown(given, key));
  };
  for (const auto& [key, value] : stored.items()) compare(key);
  for (const auto& [key, value] : given.items())
    if (!stored.contains(key)) compare(key);
  return out;
}

std::string text_difference(const std::string& name, const std::string& stored, const std::string& given) {
  if (stored == given) return "";
  std::istringstream a(stored), b(given);
  std::string x, y;
  for (std::size_t line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
    if (more_a && more_b && x == y) continue;
    return fmt::format("\n    {}: SHA-256 {} in the run, {} now; line {}: {} in the run, {} now", name,
                       sha256(stored).substr(0, 12), sha256(given).substr(0, 12), line,
                       more_a ? "'" + x + "'" : "nothing", more_b ? "'" + y + "'" : "nothing");
  }
}

std::string program() { return "mckean " MCKEAN_VERSION; }
}  // namespace

Json json_of(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw InputError(fmt::format("a text that should be JSON is not: {}", e.what()));
  }
}

Json object_of(const std::string& text) {
  Json out = json_of(text);
  if (!out.is_object()) throw InputError("the settings of a run are no JSON object");
  return out;
}

std::string text_of(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Store::Words words_of(const RunInput& input) {
  return {{"format", std::to_string(kStoreFormat)},
          {"program", program()},
          {"created", utc_now()},
          {"settings", text_of(object_of(input.settings), 2)},
          {"model", input.model},
          {"model_sha256", sha256(input.model)},
          {"data", input.data},
          {"data_sha256", sha256(input.data)},
          {"seconds", "0"},
          {"state", "running"}};
}

RunInput read_input(const Store& store) {
  return {store.require("settings"), store.require("model"), store.require("data")};
}

void require_same(const std::string& folder, const RunInput& stored, const RunInput& given) {
  const std::string difference = settings_difference(object_of(stored.settings), object_of(given.settings)) +
                                 text_difference("model", stored.model, given.model) +
                                 text_difference("data", stored.data, given.data);
  if (!difference.empty())
    throw InputError(
        fmt::format("{}: holds another run; give another folder, or resume that one{}", folder, difference));
}

void require_same_program(const std::string& folder, const Store& store) {
  if (const std::string made_by = store.require("program"); made_by != program())
    throw InputError(fmt::format(
        "{}: was begun by {}, and this is {}; results of the two must not be mixed: use the former, or begin anew",
        folder, made_by, program()));
}

std::string pack(const RunInput& input) {
  return fmt::format("{} {} ", input.settings.size(), input.model.size()) + input.settings + input.model + input.data;
}

RunInput unpack_input(const std::string& bytes) {
  std::istringstream sizes(bytes.substr(0, 64));
  std::size_t settings = 0, model = 0;
  sizes >> settings >> model;
  const std::size_t at = static_cast<std::size_t>(sizes.tellg()) + 1;
  return {bytes.substr(at, settings), bytes.substr(at + settings, model), bytes.substr(at + settings + model)};
}
}  // namespace mckean
