#include "cli/advice.hpp"

namespace mckean::cli {
namespace {

using Code = Finding::Code;

// The end of the sentence.
std::string_view advice_on(const Finding& f) {
  if (f.has("limited")) return "; a --budget lifts the limit of work that ended the search";
  switch (f.code) {
    case Code::ascent_not_at_rest:
      return "; try other starts with --set, or --starts";
    case Code::profile_not_at_rest:
      return "; start elsewhere (--set)";
    case Code::others_not_at_maximum:
      return "; take a narrower --range";
    case Code::steps_matter:
    case Code::steps_moved:
    case Code::discretisation_bias:
      return "; raise --levels";
    case Code::law_matters:
    case Code::law_moved:
    case Code::law_bias:
      return "; raise --law-particles";
    case Code::too_few_particles:
      return "; take more --particles";
    case Code::monte_carlo_error:
      return "; to go on, give a --tolerance or more --particles";
    case Code::monte_carlo_error_exceeds:
      return ", or --estimator stratified";
    case Code::one_particle:
      return ": raise --particles, or check the value";
    case Code::phases_disagree:
      return "; compare with another --seed";
    case Code::higher_elsewhere:
      return "; start there with --set";
    default:
      return "";
  }
}
}  // namespace

std::string warning_text(const Finding& f) { return to_text(f).append(advice_on(f)); }

std::vector<std::string> warning_texts(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) out.push_back(warning_text(f));
  return out;
}

nlohmann::ordered_json findings_json(const Findings& findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Finding& f : findings) {
    nlohmann::ordered_json data = nlohmann::ordered_json::object();
    for (const Finding::Item& item : f.data)
      std::visit([&](const auto& value) { data[item.name] = value; }, item.value);
    out.push_back({{"code", code_name(f.code)}, {"data", data}});
  }
  return out;
}
}  // namespace mckean::cli
