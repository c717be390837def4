// TOML → ModelSpec → Model. Every complaint names file, line and column, and shows the place.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "expr/names.hpp"
#include "expr/parse.hpp"
#include "mckean/model.hpp"
#include "model/density.hpp"
#include "model/source_text.hpp"

namespace mckean {
namespace {

constexpr std::int64_t kMostComponents = 4096;

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

class Reader {
 public:
  Reader(std::string_view text, const std::string& source, const Overrides& overrides)
      : text_(text, source), overrides_(overrides) {}

  Model read() {
    try {
      root_ = toml::parse(text_.text());
    } catch (const toml::parse_error& e) {
      text_.fail(e.source().begin.line, e.source().begin.column, std::string(e.description()));
    }
    static const std::vector<std::string> sections{"state", "parameters", "constants",  "interaction",
                                                   "drift", "diffusion",  "observation"};
    std::vector<std::string> known = sections;
    known.insert(known.end(), {"name", "description"});
    for (const auto& [key, node] : entries(root_)) {
      if (std::ranges::find(known, key) == known.end()) unknown_key(*node, key, known, "");
      if (std::ranges::find(sections, key) != sections.end() && !node->is_table())
        fail(*node, fmt::format("'{}' must be a section: write [{}] on a line of its own", key, key));
    }
    try {
      ModelSpec spec(text_at("name"));
      text_at("description");
      spec_ = &spec;
      for (const auto& [key, node] : section("constants")) constant(key, *node);
      for (const auto& [key, node] : section("state")) state(key, *node);
      for (const auto& [key, node] : section("parameters")) parameter(key, *node);
      check_overrides();
      check_arrays();
      const Entries interactions = section("interaction");
      for (const auto& [key, node] : interactions)
        spec.interaction(key, expression(*node, interaction_scope(interactions)));
      for (const auto& [key, node] : section("drift"))
        per_state(key, *node, "drift"), spec.drift(key, expression(*node, drift_scope()));
      for (const auto& [key, node] : section("diffusion")) per_state(key, *node, "diffusion"), diffusion(key, *node);
      for (const auto& [key, node] : section("observation")) observation(key, *node);
      return Model(std::move(spec));
    } catch (const SpecError& e) {
      const std::string key = e.key.substr(0, e.key.find('['));
      if (const toml::node* node = root_[e.section][key].node()) fail(*node, e.what());
      if (const toml::node* node = root_[e.section].node()) fail(*node, e.what());
      text_.fail(e.what());
    }
  }

 private:
  using Entries = std::vector<std::pair<std::string, const toml::node*>>;

  // A table's entries in the order of the file: the order of the states is that of a matrix's rows.
  static Entries entries(const toml::table& table) {
    Entries out;
    for (const auto& [key, node] : table) out.emplace_back(std::string(key.str()), &node);
    std::ranges::stable_sort(out, {}, [](const auto& e) {
      const auto& begin = e.second->source().begin;
      return std::pair(begin.line, begin.column);
    });
    return out;
  }

  Entries section(const char* name) const {
    const toml::table* table = root_[name].as_table();
    return table ? entries(*table) : Entries{};
  }

  [[noreturn]] void fail(const toml::node& at, const std::string& message) const {
    text_.fail(at.source().begin.line, at.source().begin.column, message);
  }

  [[noreturn]] void unknown_key(const toml::node& at, const std::string& key, const std::vector<std::string>& known,
                                const std::string& where) const {
    const std::string meant = nearest(key, known);
    fail(at, fmt::format("unknown key '{}'{}; {}", key, where,
                         meant.empty() ? "known are " + listed(known) : "did you mean '" + meant + "'?"));
  }

  void allow_keys(const toml::table& table, const std::vector<std::string>& known, const std::string& of) const {
    for (const auto& [key, node] : entries(table))
      if (std::ranges::find(known, key) == known.end()) unknown_key(*node, key, known, " of '" + of + "'");
  }

  std::string text_at(const char* key) const {
    const toml::node* node = root_[key].node();
    if (!node) return key == std::string("name") ? text_.stem() : "";
    if (!node->is_string()) fail(*node, fmt::format("'{}' must be a text in quotes", key));
    return node->as_string()->get();
  }

  double number(const toml::node& node, const std::string& what, bool finite = true) const {
    const auto v = node.is_number() ? node.value<double>() : std::nullopt;
    if (!v) fail(node, fmt::format("{} must be a number", what));
    if (std::isnan(*v) || (finite && !std::isfinite(*v))) fail(node, fmt::format("{} must be finite", what));
    return *v;
  }

  std::vector<double> numbers(const toml::array& array, const std::string& what) const {
    std::vector<double> out;
    for (const auto& item : array) out.push_back(number(item, what));
    return out;
  }

  const double* overridden(const std::string& name) const {
    const double* found = nullptr;
    for (const auto& [n, value] : overrides_)
      if (n == name) found = &value;
    return found;
  }

  void check_overrides() const {
    std::vector<std::string> known;
    for (const auto& s : spec_->states) known.push_back(s.name);
    for (const auto& p : spec_->parameters) known.push_back(p.name);
    for (const auto& c : spec_->constants) known.push_back(c.name);
    for (const auto& [name, value] : overrides_)
      if (std::ranges::find(known, name) == known.end()) {
        const std::string meant = nearest(name, known);
        throw InputError(fmt::format("--set {}={}: the model '{}' has no parameter, constant or state '{}'; {}", name,
                                     value, spec_->name, name,
                                     meant.empty() ? "it has " + listed(known) : "did you mean '" + meant + "'?"));
      }
  }

  void constant(const std::string& key, const toml::node& node) {
    const double* instead = overridden(key);
    if (const toml::array* array = node.as_array()) {
      std::vector<double> values = numbers(*array, fmt::format("an entry of the constant '{}'", key));
      if (instead) std::ranges::fill(values, *instead);
      spec_->vector_constant(key, std::move(values));
    } else {
      const double value = number(node, fmt::format("the constant '{}'", key));
      spec_->constant(key, instead ? *instead : value);
    }
  }

  // An array has one entry for each component of some vector state.
  void check_arrays() const {
    for (const auto& c : spec_->constants) {
      const auto fits = [&](const StateSpec& s) { return s.start.size() == c.values.size(); };
      if (!c.vector || std::ranges::any_of(spec_->states, fits)) continue;
      fail(
          *root_["constants"][c.name].node(),
          fmt::format("the array '{}' has {} entries, which is the size of no state; give one entry for each component",
                      c.name, c.values.size()));
    }
  }

  struct Start {
    double mean, sd;
  };

  // A number, an expression of constants, or normal(mean, sd).
  Start start(const std::string& key, const toml::node& node) const {
    const std::string what = fmt::format("the start of '{}'", key);
    Start s{0, 0};
    if (const auto* text = node.as_string()) {
      const Scope scope = constant_scope();
      const std::string& written = text->get();
      const bool distributed = written.find_first_not_of(" \t") != std::string::npos &&
                               written.substr(written.find_first_not_of(" \t")).starts_with("normal");
      try {
        if (distributed) {
          const Call call = parse_call(written, *spec_->graph, scope);
          if (call.name != "normal" || call.arguments.size() != 2)
            fail(node, fmt::format("{} must be a number or normal(mean, sd)", what));
          s = {value_of(call.arguments[0]), value_of(call.arguments[1])};
        } else {
          s.mean = value_of(parse_expression(written, *spec_->graph, scope));
        }
      } catch (const ParseError& e) {
        text_.fail_inside(node.source().begin.line, node.source().begin.column, written, e.position, e.what());
      }
    } else {
      s.mean = number(node, what + " (or normal(mean, sd) in quotes)");
    }
    if (const double* instead = overridden(key)) s.mean = *instead;
    if (!std::isfinite(s.mean) || !std::isfinite(s.sd) || s.sd < 0)
      fail(node, fmt::format("{} must be finite, with a standard deviation that is not negative", what));
    return s;
  }

  double value_of(Expr e) const {
    Substitution values;
    for (const auto& c : spec_->constants)
      if (!c.vector)
        values.emplace(spec_->graph->symbol({Kind::constant, c.name}).id(), spec_->graph->number(c.values[0]));
    return evaluate(substitute(e, values), {});
  }

  std::size_t size_of(const std::string& key, const toml::node& node) const {
    double size = 0;
    if (const auto* name = node.as_string()) {
      const auto at = std::ranges::find(spec_->constants, name->get(), &ConstantSpec::name);
      if (at == spec_->constants.end() || at->vector)
        fail(node, fmt::format("the size of '{}' must be a whole number or the name of a constant", key));
      size = at->values[0];
    } else {
      size = number(node, fmt::format("the size of '{}'", key));
    }
    if (size < 1 || size > kMostComponents || size != std::trunc(size))
      fail(node, fmt::format("the size of '{}' must be a whole number from 1 to {}", key, kMostComponents));
    return static_cast<std::size_t>(size);
  }

  void state(const std::string& key, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (!table) {
      const Start s = start(key, node);
      spec_->state(key, s.mean, s.sd);
      return;
    }
    allow_keys(*table, {"size", "start"}, key);
    if (!table->contains("start")) fail(node, fmt::format("'{}' needs a start, as in {{ size = 3, start = 0 }}", key));
    const toml::node& at = *table->get("start");
    const std::size_t size = table->contains("size") ? size_of(key, *table->get("size")) : 1;
    std::vector<double> mean, sd;
    if (const toml::array* array = at.as_array()) {
      if (array->size() != size)
        fail(at, fmt::format("'{}' has {} components, but its start has {} entries", key, size, array->size()));
      for (const auto& item : *array) {
        const Start s = start(key, item);
        mean.push_back(s.mean), sd.push_back(s.sd);
      }
    } else {
      const Start s = start(key, at);
      mean.assign(size, s.mean), sd.assign(size, s.sd);
    }
    spec_->vector_state(key, std::move(mean), std::move(sd));
  }

  void parameter(const std::string& key, const toml::node& node) {
    Parameter p{key, 0};
    if (const toml::table* table = node.as_table()) {
      allow_keys(*table, {"start", "lower", "upper"}, key);
      if (!table->contains("start"))
        fail(node, fmt::format("'{}' needs a start, as in {{ start = 1, lower = 0 }}", key));
      p.start = number(*table->get("start"), fmt::format("the start of '{}'", key));
      if (const auto* n = table->get("lower")) p.lower = number(*n, fmt::format("the lower bound of '{}'", key), false);
      if (const auto* n = table->get("upper")) p.upper = number(*n, fmt::format("the upper bound of '{}'", key), false);
    } else {
      p.start = number(node, fmt::format("the start of the parameter '{}'", key));
    }
    if (const double* instead = overridden(key)) {
      p.start = *instead;
      if (!p.contains(p.start))
        throw InputError(fmt::format("--set {}={}: the value is not strictly between the bounds {} and {}", key,
                                     p.start, p.lower, p.upper));
    }
    spec_->parameter(p);
  }

  void per_state(const std::string& key, const toml::node& node, const char* where) const {
    std::vector<std::string> known;
    for (const auto& s : spec_->states) known.push_back(s.name);
    if (std::ranges::find(known, key) == known.end())
      unknown_key(node, key, known, fmt::format(" in [{}]: no such state", where));
  }

  Expr expression(const toml::node& node, const Scope& scope) const {
    if (node.is_number()) return spec_->number(number(node, "this entry"));
    const auto* text = node.as_string();
    if (!text) fail(node, "an expression in quotes is expected here");
    try {
      return parse_expression(text->get(), *spec_->graph, scope);
    } catch (const ParseError& e) {
      text_.fail_inside(node.source().begin.line, node.source().begin.column, text->get(), e.position, e.what());
    }
  }

  void diffusion(const std::string& key, const toml::node& node) {
    const Scope scope = diffusion_scope();
    const toml::array* array = node.as_array();
    if (!array) return spec_->diffusion(key, expression(node, scope));
    const auto row_of = [&](const toml::array& entries) {
      std::vector<Expr> row;
      for (const auto& item : entries) row.push_back(expression(item, scope));
      return row;
    };
    std::vector<std::vector<Expr>> rows;
    if (!array->empty() && array->front().is_array()) {
      for (const auto& item : *array) {
        if (!item.is_array()) fail(item, "each row of the diffusion must be a list");
        rows.push_back(row_of(*item.as_array()));
      }
    } else {
      rows.push_back(row_of(*array));
    }
    spec_->diffusion_rows(key, std::move(rows));
  }

  void observation(const std::string& key, const toml::node& node) {
    Scope scope = observation_scope();
    if (const toml::table* table = node.as_table()) {
      allow_keys(*table, {"log_density"}, key);
      if (!table->contains("log_density"))
        fail(node, fmt::format("'{}' needs a distribution, or {{ log_density = \"…\" }}", key));
      scope.names[key] = {spec_->observed(key), {}};
      spec_->observe(key, {Distribution::custom, {}, expression(*table->get("log_density"), scope)});
      return;
    }
    const auto* text = node.as_string();
    if (!text) fail(node, "a distribution in quotes is expected, as in \"normal(x, 1)\"");
    try {
      const Call call = parse_call(text->get(), *spec_->graph, scope);
      const auto at = std::ranges::find(distributions(), call.name, &DistributionInfo::name);
      if (at == distributions().end()) unknown_distribution(call.name);
      if (call.arguments.size() != at->arguments.size())
        throw ParseError(
            0, fmt::format("{} takes {} ({}), not {}", call.name,
                           at->arguments.size() == 1 ? "1 argument" : fmt::format("{} arguments", at->arguments.size()),
                           fmt::join(at->arguments, ", "), call.arguments.size()));
      spec_->observe(key, {at->distribution, call.arguments, {}});
    } catch (const ParseError& e) {
      text_.fail_inside(node.source().begin.line, node.source().begin.column, text->get(), e.position, e.what());
    }
  }

  [[noreturn]] static void unknown_distribution(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& d : distributions()) known.emplace_back(d.name);
    const std::string meant = nearest(name, known);
    throw ParseError(0, fmt::format("there is no distribution '{}'; {}", name,
                                    meant.empty() ? "known are " + listed(known) + ", and { log_density = \"…\" }"
                                                  : "did you mean '" + meant + "'?"));
  }

  void add(Scope& scope, Kind::Bits kind, const std::string& name, bool vector, std::size_t size) const {
    Scope::Entry entry{spec_->graph->symbol({kind, name}), {}};
    for (std::size_t c = 0; vector && c < size; ++c)
      entry.components.push_back(size == 1 ? entry.whole : spec_->graph->symbol({kind, name, static_cast<int>(c)}));
    (kind == Kind::other_state ? scope.primed : scope.names)[name] = std::move(entry);
  }

  Scope constant_scope() const {
    Scope scope;
    for (const auto& c : spec_->constants) add(scope, Kind::constant, c.name, c.vector, c.values.size());
    scope.no_primes = "it is a constant";
    return scope;
  }

  // States, constants and time: what every expression may use.
  Scope common_scope() const {
    Scope scope = constant_scope();
    for (const auto& s : spec_->states) add(scope, Kind::state, s.name, s.vector, s.start.size());
    scope.names["t"] = {spec_->time(), {}};
    scope.no_primes = "primed states, the other particle, belong in [interaction]";
    for (const auto& [key, node] : section("observation"))
      scope.barred[key] = "an observed value belongs in [observation] only";
    return scope;
  }

  void add_parameters(Scope& scope) const {
    for (const auto& p : spec_->parameters) add(scope, Kind::parameter, p.name, false, 1);
  }

  Scope interaction_scope(const Entries& interactions) const {
    Scope scope = common_scope();
    add_parameters(scope);
    scope.no_primes.clear();
    for (const auto& s : spec_->states) add(scope, Kind::other_state, s.name, s.vector, s.start.size());
    for (const auto& [key, node] : interactions) scope.barred[key] = "an interaction must not refer to an interaction";
    return scope;
  }

  Scope drift_scope() const {
    Scope scope = common_scope();
    add_parameters(scope);
    for (const auto& [name, kernel] : spec_->interactions) add(scope, Kind::interaction, name, false, 1);
    return scope;
  }

  Scope diffusion_scope() const {
    Scope scope = common_scope();
    for (const auto& p : spec_->parameters)
      scope.barred[p.name] =
          "the diffusion cannot contain a parameter, since paths with different diffusions have no common density; "
          "make it a constant";
    for (const auto& [name, kernel] : spec_->interactions)
      scope.barred[name] = "the diffusion must not depend on the law";
    return scope;
  }

  Scope observation_scope() const {
    Scope scope = common_scope();
    add_parameters(scope);
    for (const auto& [name, kernel] : spec_->interactions)
      scope.barred[name] = "an observation must not depend on the law";
    return scope;
  }

  SourceText text_;
  const Overrides& overrides_;
  toml::table root_;
  ModelSpec* spec_ = nullptr;
};
}  // namespace

Model parse_model(std::string_view text, const std::string& source, const Overrides& overrides) {
  return Reader(text, source, overrides).read();
}

Model read_model(const std::filesystem::path& file, const Overrides& overrides) {
  return parse_model(read_text(file), file.string(), overrides);
}
}  // namespace mckean
