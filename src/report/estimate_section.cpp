// The estimate with its intervals.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

std::string cell(const std::optional<double>& v) { return v ? number(*v) : "–"; }

std::string likelihood_line(const nlohmann::ordered_json& result) {
  if (!result.contains("loglik")) return "";
  const auto& l = result["loglik"];
  std::string out = "<p>Log-likelihood at the estimate: " + number(l["value"].get<double>());
  if (l["se"].is_number() && l["se"].get<double>() > 0) out += " ± " + number(l["se"].get<double>());
  if (result.contains("aic")) out += "; AIC " + number(result["aic"].get<double>());
  return out + ".</p>\n";
}

// How the interval was made, and how much of it is the computation's own error.
std::string reading(const Context& c) {
  std::string out =
      "<p class=\"note\">Standard errors are those of the data, from the observed information; 95 % intervals keep to "
      "the bounds of a parameter. ";
  if (c.input.plan.estimator == Estimator::quadrature)
    return out + "Quadrature is deterministic: there is no Monte Carlo error.</p>\n";
  out += "The Monte Carlo error is that of the computation, and falls with more replicates. ";
  double worst = 0;
  for (const Estimate& e : c.facts.estimates)
    if (e.mc_se && e.std_error && *e.std_error > 0) worst = std::max(worst, *e.mc_se / *e.std_error);
  if (worst > 0) out += fmt::format("Here it is at most {:.0f} % of the standard error.", 100 * worst);
  return out + "</p>\n";
}
}  // namespace

std::string estimate_section(const Context& c) {
  const Facts& f = c.facts;
  std::string out;
  if (!f.finished) {
    out += fmt::format("<p class=\"warning\">This run is not finished (state: {}). ",
                       escaped(c.input.run["state"].get<std::string>()));
    out += f.estimates.empty() || !f.estimates[0].value
               ? "It has no estimate yet.</p>\n"
               : "The numbers are those reached so far; standard errors are known at the end.</p>\n";
    out += "<p>To finish it: " + code("mckean resume " + c.input.run["run"].get<std::string>()) + "</p>\n";
  }
  Table t{"Estimate", {"parameter", "estimate", "95 % from", "to", "standard error", "Monte Carlo error"}, {}, 1};
  for (const Estimate& e : f.estimates)
    t.rows.push_back({code(e.name), cell(e.value), cell(e.lower), cell(e.upper), cell(e.std_error), cell(e.mc_se)});
  out += to_html(t);
  if (f.finished) out += likelihood_line(c.input.run["result"]);
  return out + reading(c);
}
}  // namespace mckean::report
