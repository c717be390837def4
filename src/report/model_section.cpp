// The model as formulas.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/density.hpp"
#include "report/html.hpp"
#include "report/mathml.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kLongestFormula = 20000;  // of its text, in bytes
constexpr std::size_t kMostRows = 8;            // of a diffusion matrix

// A formula, or its beginning in plain text where it is too long to be read.
std::string shown(const std::string& math, const std::string& text) {
  return math.size() <= kLongestFormula * 8 ? display(math, text) : code_block(text.substr(0, kLongestFormula) + " …");
}

const std::vector<std::vector<Expr>>* diffusion_of(const ModelSpec& spec, const std::string& state) {
  for (const auto& [name, rows] : spec.diffusions)
    if (name == state) return &rows;
  return nullptr;
}

std::string d_of(const std::string& what) { return "<mi mathvariant=\"normal\">d</mi>" + what; }
const std::string kThinSpace = "<mspace width=\"0.17em\"/>";

// A factor in front of dt or dW.
std::string factor(Expr e) {
  const bool plain = e.op() == Op::symbol || (e.is_number() && e.value() >= 0);
  return (plain ? mathml(e) : in_parentheses(mathml(e))) + kThinSpace;
}

std::string matrix(const std::vector<std::vector<Expr>>& rows) {
  std::string out = "<mrow><mo>(</mo><mtable>";
  for (const auto& row : rows) {
    out += "<mtr>";
    for (const Expr e : row) out += "<mtd>" + mathml(e) + "</mtd>";
    out += "</mtr>";
  }
  return out + "</mtable><mo>)</mo></mrow>";
}

// dx = (drift) dt + σ dW
std::string dynamics(const ModelSpec& spec, const StateSpec& state) {
  const auto drift = std::ranges::find(spec.drifts, state.name, &std::pair<std::string, Expr>::first);
  std::string math = d_of(mathml_name(state.name)) + mo("="), text = fmt::format("d{} = ", state.name);
  const bool moves = drift != spec.drifts.end() && !drift->second.is_number(0);
  if (moves) {
    math += factor(drift->second) + d_of("<mi>t</mi>");
    text += fmt::format("({}) dt", to_text(drift->second));
  }
  const auto* rows = diffusion_of(spec, state.name);
  if (!rows) return shown(math + (moves ? "" : "<mn>0</mn>"), text);
  if (rows->size() == 1 && (*rows)[0].size() == 1) {
    const Expr sigma = (*rows)[0][0];
    if (!sigma.is_number(0)) {
      math += (moves ? mo("+") : "") + factor(sigma) +
              d_of(spec.states.size() == 1 ? "<mi>W</mi>" : "<msub><mi>W</mi>" + mathml_name(state.name) + "</msub>");
      text += fmt::format("{}({}) dW", moves ? " + " : "", to_text(sigma));
    } else if (!moves) {
      math += "<mn>0</mn>";
    }
  } else {
    math += (moves ? mo("+") : "") + (rows->size() <= kMostRows ? matrix(*rows) : "<mi mathvariant=\"normal\">Σ</mi>") +
            d_of("<mi>W</mi>");
    text += fmt::format("{}matrix dW", moves ? " + " : "");
  }
  return shown(math, text);
}

bool all_equal(const std::vector<double>& v) {
  return std::ranges::all_of(v, [&](double x) { return x == v[0]; });
}

std::string start(const StateSpec& state) {
  if (!all_equal(state.start) || !all_equal(state.start_sd)) return "";
  std::string math = mathml_name(state.name) + in_parentheses("<mn>0</mn>");
  if (state.start_sd[0] == 0)
    return display(math + mo("=") + mathml_number(state.start[0]),
                   fmt::format("{}(0) = {}", state.name, state.start[0]));
  math += mo("∼") + "<mi>normal</mi>" +
          in_parentheses(mathml_number(state.start[0]) + "<mo>,</mo>" + mathml_number(state.start_sd[0]));
  return display(math, fmt::format("{}(0) ~ normal({}, {})", state.name, state.start[0], state.start_sd[0]));
}

std::string observation(const std::string& name, const Density& d) {
  if (d.distribution == Distribution::custom)
    return shown("<mi>log</mi><mi>p</mi>" + in_parentheses(mathml_name(name)) + mo("=") + mathml(d.log_density),
                 fmt::format("log p({}) = {}", name, to_text(d.log_density)));
  std::string arguments, text;
  for (std::size_t i = 0; i < d.arguments.size(); ++i) {
    arguments += (i ? "<mo>,</mo>" : "") + mathml(d.arguments[i]);
    text += (i ? ", " : "") + to_text(d.arguments[i]);
  }
  const std::string distribution(info(d.distribution).name);
  return shown(
      mathml_name(name) + mo("∼") + "<mi>" + distribution + "</mi><mrow><mo>(</mo>" + arguments + "<mo>)</mo></mrow>",
      fmt::format("{} ~ {}({})", name, distribution, text));
}

std::string values_table(const Model& model) {
  Table t{"Parameters and constants", {"name", "role", "value", "bounds"}, {}, 2};
  for (const Parameter& p : model.parameters()) {
    const auto bound = [](double v) { return short_number(v, 6); };
    const bool bounded = std::isfinite(p.lower) || std::isfinite(p.upper);
    t.rows.push_back({code(p.name), "estimated, from", number(p.start),
                      bounded ? fmt::format("{} to {}", bound(p.lower), bound(p.upper)) : "none"});
  }
  for (const ConstantSpec& c : model.spec().constants)
    t.rows.push_back({code(c.name), "constant",
                      all_equal(c.values) ? number(c.values[0]) : fmt::format("{} values", c.values.size()), ""});
  return to_html(t);
}
}  // namespace

std::string model_section(const Model& model) {
  const ModelSpec& spec = model.spec();
  std::string out = "<p>Dynamics of a particle";
  out += spec.interactions.empty()
             ? "; no particle feels another.</p>\n"
             : ", whose drift depends on its own law μ<sub>t</sub>; a prime marks another particle, "
               "drawn from that law.</p>\n";
  const auto sum = [](Expr e) { return e.op() == Op::add || e.op() == Op::sub || e.op() == Op::neg; };
  for (const auto& [name, kernel] : spec.interactions)
    out += shown(mathml_name(name) + mo("=") + "<mo>∫</mo>" +
                     (sum(kernel) ? in_parentheses(mathml(kernel)) : mathml(kernel)) +
                     "<msub><mi>μ</mi><mi>t</mi></msub>" +
                     in_parentheses(d_of("<mi>x</mi><mo lspace=\"0\" rspace=\"0\">′</mo>")),
                 fmt::format("{} = mean over the law of {}", name, to_text(kernel)));
  for (const StateSpec& state : spec.states) out += dynamics(spec, state);
  for (const StateSpec& state : spec.states) {
    out += start(state);
    if (state.vector)
      out +=
          fmt::format("<p>{} has {} components{}.</p>\n", code(state.name), state.start.size(),
                      all_equal(state.start) ? "; formulas hold for each of them" : ", each with a start of its own");
  }
  out += "<p>Observations, given the state at their time:</p>\n";
  for (const auto& [name, density] : spec.observations) out += observation(name, density);
  std::string meaning;
  for (const auto& [name, density] : spec.observations)
    if (density.distribution != Distribution::custom) {
      const DistributionInfo& d = info(density.distribution);
      const std::string line = fmt::format("<p class=\"note\">{}({})</p>\n", d.name, fmt::join(d.arguments, ", "));
      if (meaning.find(line) == std::string::npos) meaning += line;
    }
  return out + meaning + values_table(model);
}
}  // namespace mckean::report
