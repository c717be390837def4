// The estimate with its intervals.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

std::string cell(const std::optional<double>& v) { return v ? number(*v) : "–"; }

std::string likelihood_line(const nlohmann::ordered_json& result) {
  if (!result.contains("loglik") || !result["loglik"]["value"].is_number()) return "";
  const auto& l = result["loglik"];
  std::string out = "<p>Log-likelihood at the estimate: " + number(l["value"].get<double>());
  if (l["se"].is_number() && l["se"].get<double>() > 0) out += " ± " + number(l["se"].get<double>());
  if (result.contains("aic") && result["aic"].is_number()) out += "; AIC " + number(result["aic"].get<double>());
  return out + ".</p>\n";
}

// What a one-sided interval means.
std::string at_bound(const Estimate& e) {
  const bool low = e.at_bound == AtBound::lower;
  const auto& end = low ? e.upper : e.lower;
  const std::string interval = end ? fmt::format(" The interval is one-sided: {} {} with 95 % confidence.",
                                                 low ? "below" : "above", number(*end))
                                   : "";
  return fmt::format("<li>{} is at its {} bound, and has no standard error.{}</li>\n", code(e.name),
                     low ? "lower" : "upper", interval);
}

// What the dashes of a row mean.
std::string missing(const Estimate& e) {
  if (e.lower && e.upper) return e.std_error ? "" : "no standard error";
  if (e.lower) return "no standard error, and no upper end of the interval";
  if (e.upper) return "no standard error, and no lower end of the interval";
  return "neither standard error nor interval";
}

std::string incomplete(const Facts& f) {
  std::string out;
  std::map<std::string, std::string> names;  // by what is missing
  for (const Estimate& e : f.estimates) {
    if (e.at_bound != AtBound::none) {
      out += at_bound(e);
    } else if (const std::string what = missing(e); !what.empty()) {
      names[what] += (names[what].empty() ? "" : ", ") + code(e.name);
    }
  }
  for (const auto& [what, which] : names)
    out += fmt::format("<li>{}: {}. The data do not determine it, or the curvature there is not known.</li>\n", which,
                       what);
  return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

// How the interval was made, and how much of it is the computation's own error.
std::string reading(const Context& c) {
  std::string out;
  double worst = 0;
  bool data_errors = false, own_errors = false;
  for (const Estimate& e : c.facts.estimates) {
    data_errors = data_errors || e.std_error;
    own_errors = own_errors || e.mc_se;
    if (e.mc_se && e.std_error && *e.std_error > 0) worst = std::max(worst, *e.mc_se / *e.std_error);
  }
  if (data_errors)
    out +=
        "Standard errors are those of the data, from the observed information; 95 % intervals keep to the bounds of a "
        "parameter. ";
  if (c.facts.exact)
    out += "The likelihood is computed exactly: there is no Monte Carlo error.";
  else if (own_errors)
    out += fmt::format("The Monte Carlo error is that of the computation, and falls with more {}. ",
                       c.facts.search ? "evaluations of the likelihood" : "replicates");
  if (worst > 0) out += fmt::format("Here it is at most {:.0f} % of the standard error.", 100 * worst);
  return out.empty() ? "" : "<p class=\"note\">" + out + "</p>\n";
}
}  // namespace

std::string estimate_section(const Context& c) {
  const Facts& f = c.facts;
  std::string out;
  if (!f.finished) {
    out += fmt::format("<p class=\"warning\">This run is not finished (state: {}). ",
                       escaped(c.input.run["state"].get<std::string>()));
    out += f.estimates.empty() || !f.estimates[0].value
               ? "It has stored no estimate yet.</p>\n"
               : "The numbers are those reached so far; standard errors are known at the end.</p>\n";
    out += "<p>To finish it: " + code("mckean resume " + c.input.run["run"].get<std::string>()) + "</p>\n";
  }
  Table t{"Estimate", {"parameter", "estimate", "95 % from", "to", "standard error"}, {}, 1};
  for (const Estimate& e : f.estimates)
    t.rows.push_back({code(e.name), cell(e.value), cell(e.lower), cell(e.upper), cell(e.std_error)});
  if (!f.exact) {
    t.head.emplace_back("Monte Carlo error");
    for (std::size_t p = 0; p < f.estimates.size(); ++p) t.rows[p].push_back(cell(f.estimates[p].mc_se));
  }
  out += to_html(t);
  if (f.finished) out += incomplete(f) + likelihood_line(c.input.run["result"]);
  return out + reading(c);
}
}  // namespace mckean::report
