// Settings, files and command lines: everything needed to run it again.
#include <fmt/format.h>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEmbedded = 1'500'000;  // bytes of a file that is part of the page
constexpr std::size_t kMostLogLines = 200;

std::string file_link(const std::string& name, const std::string& type, const std::string& text) {
  if (text.size() > kMostEmbedded)
    return fmt::format("{} ({} bytes) is too large to be part of this page; {} writes it", code(name), text.size(),
                       code("mckean export"));
  return download(name, type, text, fmt::format("{} ({} bytes)", name, text.size()));
}

std::string shown(const Json& v) {
  if (v.is_string()) return v.get<std::string>().empty() ? "not given" : code(v.get<std::string>());
  if (v.is_array()) {
    std::string out;
    for (const Json& item : v)
      out += (out.empty() ? "" : ", ") + code(item.is_string() ? item.get<std::string>() : item.dump());
    return out.empty() ? "none" : out;
  }
  if (v.is_boolean()) return v.get<bool>() ? "yes" : "no";
  return v.is_number() ? number(v.get<double>()) : code(v.dump());
}

std::string settings_table(const Json& settings) {
  Table t{"Settings; “not given”: chosen by the program, or of no use to this fit", {"setting", "value"}, {}, 2};
  for (const auto& [key, value] : settings.items()) {
    const bool given = key == "seed" || !value.is_number() || value.get<double>() != 0;
    t.rows.push_back({code(key), given ? shown(value) : "not given"});
  }
  return to_html(t);
}

// Without where it stood on disk, which is no part of the run.
std::string log_list(const Json& log) {
  std::string out = "<details>\n<summary>Log of the run</summary>\n<ol class=\"log\">\n";
  for (std::size_t k = 0; k < log.size() && k < kMostLogLines; ++k)
    out += fmt::format("<li><time>{}</time> {}</li>\n", escaped(log[k]["time"].get<std::string>()),
                       escaped(log[k]["message"].get<std::string>()));
  out += "</ol>\n";
  if (log.size() > kMostLogLines)
    out += fmt::format("<p>{} more lines are in run.json.</p>\n", log.size() - kMostLogLines);
  return out + "</details>\n";
}
}  // namespace

std::string again_section(const Context& c) {
  const Json& run = c.input.run;
  const std::string folder = run["run"].get<std::string>();
  std::string out = "<p>With the two files below in the current folder, this computes the same run:</p>\n";
  out += code_block(c.input.command);
  out +=
      fmt::format("<p>{} made it; another version may give other numbers. The number of threads does not matter.</p>\n",
                  escaped(run["program"].get<std::string>()));
  const std::string model = c.input.store.require("model"), data = c.input.store.require("data");
  out += fmt::format("<ul>\n<li>Model: {}</li>\n<li>Data: {}</li>\n<li>The run: {}</li>\n</ul>\n",
                     file_link("model.toml", "application/toml", model), file_link("data.csv", "text/csv", data),
                     file_link("run.json", "application/json", run.dump(2) + "\n"));
  out += "<h3>Model file</h3>\n" + code_block(model);
  Table facts{"The run", {"fact", "value"}, {}, 2};
  facts.rows = {{"state", escaped(run["state"].get<std::string>())},
                {"begun", escaped(run["created"].get<std::string>())},
                {"seconds of work", number(run["seconds"].get<double>())},
                {"finished tasks", number(run["tasks"].get<double>())},
                {"program", escaped(run["program"].get<std::string>())},
                {"SHA-256 of the model", code(run["model_sha256"].get<std::string>())},
                {"SHA-256 of the data", code(run["data_sha256"].get<std::string>())}};
  if (c.facts.finished) {
    const Json& result = run["result"];
    if (!result["levels"].empty())
      facts.rows.push_back(
          {"levels", fmt::format("{} to {}", result["levels"][0].get<int>(), result["levels"][1].get<int>())});
    const auto add = [&](const char* name, const char* key) {
      if (const auto at = result.find(key); at != result.end() && at->is_number())
        facts.rows.push_back({name, number(at->get<double>())});
    };
    add("replicates", "replicates");
    add("evaluations of the likelihood", "evaluations");
    add(c.facts.exact ? "grid steps" : "particle-steps", "particle_steps");
    add(c.facts.search ? "particles of the filter, M" : "particles of the smoother, M", "particles");
    add("particles of the law, N", "law_particles");
  }
  out += to_html(facts) + settings_table(run["settings"]) + log_list(run["log"]);
  return out + fmt::format("<p>More of it: {} for every task, {} for this page, {} to go on.</p>\n",
                           code("mckean export " + folder), code("mckean report " + folder),
                           code("mckean resume " + folder));
}
}  // namespace mckean::report
