#include "report/report.hpp"

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/sections.hpp"
#include "report/style.hpp"

namespace mckean::report {
namespace {

struct Section {
  const char *id, *title;
  std::string html;
};

// Engine and estimator, with the sizes that a result has.
std::string made_by(const Context& c) {
  const Facts& f = c.facts;
  const auto result = f.finished ? c.input.run["result"] : nlohmann::ordered_json::object();
  const auto number_of = [&](const char* key, const char* what) {
    const auto at = result.find(key);
    return at != result.end() && at->is_number() ? fmt::format(", {} {}", at->dump(), what) : std::string();
  };
  const std::string level = f.continuous ? ", in continuous time"
                            : f.finished ? fmt::format(", level {}", f.steps.level)
                                         : "";
  if (f.exact)
    return fmt::format("Made by {}, which computes the likelihood exactly",
                       f.engine == "kalman" ? "a Kalman filter" : "quadrature") +
           level;
  if (f.search)
    return "Made by a search by the likelihood of particle filters" + level + number_of("particles", "particles") +
           number_of("evaluations", "evaluations");
  if (f.chains)
    return fmt::format("Made by the estimator {} along chains of particle smoothers",
                       code(c.input.run["settings"]["estimator"].get<std::string>())) +
           number_of("replicates", "replicates");
  return "Neither an exact engine nor particles have been chosen yet";
}

std::string header(const Context& c) {
  const auto& run = c.input.run;
  const std::size_t n = c.facts.warnings.size();
  std::string status = c.facts.finished ? "finished" : escaped(run["state"].get<std::string>());
  if (c.facts.finished)
    status += n == 0   ? ", no warnings"
              : n == 1 ? ", <a href=\"#diagnostics\">one warning</a>"
                       : fmt::format(", <a href=\"#diagnostics\">{} warnings</a>", n);
  std::string out = fmt::format("<header>\n<h1>Fit of {}</h1>\n<p>Run {}, begun {}: {}. {}; seed {}.</p>\n",
                                escaped(c.input.model.name()), code(run["run"].get<std::string>()),
                                escaped(run["created"].get<std::string>()), status, made_by(c), c.input.plan.seed);
  if (!c.facts.converged)
    out +=
        "<p class=\"warning\"><strong>The fit did not converge.</strong> Its numbers are not to be relied on; see "
        "<a href=\"#diagnostics\">Diagnostics</a>.</p>\n";
  return out + "</header>\n";
}

std::string contents(const std::vector<Section>& sections) {
  std::string out = "<nav aria-label=\"Contents\">\n<ol>\n";
  for (const Section& s : sections) out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", s.id, s.title);
  return out + "</ol>\n</nav>\n";
}
}  // namespace

std::string make_report(const Input& input) {
  const Facts facts(input);
  const ParticleProblem problem({input.model, input.data, input.unit}, facts.steps.level, input.plan.seed);
  const Context c{input, facts, problem};
  std::vector<Section> sections{{"estimate", "Estimate", estimate_section(c)},
                                {"diagnostics", "Diagnostics", diagnostics_section(c)},
                                {"model", "Model", model_section(input.model)},
                                {"data", "Data and smoothed path", data_section(c)},
                                {"likelihood", "Log-likelihood around the estimate", likelihood_section(c)},
                                {"law", "Law over time", law_section(c)}};
  if (facts.search) sections.push_back({"search", "Search", search_section(c)});
  if (facts.chains) {
    sections.push_back({"convergence", "Convergence", convergence_section(c)});
    sections.push_back({"cells", "Cells: variance, cost, allocation", cells_section(c)});
    sections.push_back({"chains", "Chains", traces_section(c)});
  }
  sections.push_back({"again", "To run it again", again_section(c)});
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Fit of {}</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the estimate</a>\n",
      escaped(input.model.name()), kStyle);
  out += header(c) + contents(sections) + "<main id=\"main\">\n";
  for (const Section& s : sections)
    out += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", s.id, s.title,
                       s.html);
  return out + fmt::format("</main>\n<footer>\n<p>Written by {}.</p>\n</footer>\n</body>\n</html>\n",
                           escaped(input.run["program"].get<std::string>()));
}
}  // namespace mckean::report
