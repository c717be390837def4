// TOML → ModelSpec → Model, section by section.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/model.hpp"
#include "model/density.hpp"
#include "model/scopes.hpp"
#include "model/start.hpp"
#include "model/toml_file.hpp"

namespace mckean {
namespace {

constexpr std::int64_t kMostComponents = 1000;

class Reader {
 public:
  Reader(const TomlFile& file, const Overrides& overrides)
      : file_(file), overrides_(overrides), spec_(file.text_at("name", file.stem())), scopes_(spec_, file) {}

  ModelSpec read() {
    check_sections();
    for (const Entry& e : file_.section("constants")) constant(e.key, *e.node);
    for (const Entry& e : file_.section("state")) state(e.key, *e.node);
    for (const Entry& e : file_.section("parameters")) parameter(e.key, *e.node);
    check_overrides();
    check_arrays();
    if (spec_.states.empty()) return std::move(spec_);  // which no model accepts
    for (const Entry& e : file_.section("interaction"))
      spec_.interaction(e.key, expression(*e.node, scopes_.interaction()));
    for (const Entry& e : per_state("drift")) spec_.drift(e.key, expression(*e.node, scopes_.drift()));
    for (const Entry& e : per_state("diffusion")) diffusion(e.key, *e.node);
    for (const Entry& e : file_.section("observation")) observation(e.key, *e.node);
    return std::move(spec_);
  }

 private:
  using Entry = TomlFile::Entry;

  void check_sections() const {
    const std::vector<std::string> sections{"state", "parameters", "constants",  "interaction",
                                            "drift", "diffusion",  "observation"};
    std::vector<std::string> known = sections;
    known.insert(known.end(), {"name", "description"});
    file_.allow_keys(file_.root(), known, "");
    for (const Entry& e : TomlFile::entries(file_.root()))
      if (std::ranges::find(sections, e.key) != sections.end() && !e.node->is_table())
        file_.fail(*e.node, fmt::format("'{}' must be a section: write [{}] on a line of its own", e.key, e.key));
    file_.text_at("description", "");
  }

  const double* overridden(const std::string& name) const {
    const double* found = nullptr;
    for (const auto& [n, value] : overrides_)
      if (n == name) found = &value;
    return found;
  }

  std::vector<std::string> state_names() const {
    std::vector<std::string> names;
    for (const auto& s : spec_.states) names.push_back(s.name);
    return names;
  }

  void check_overrides() const {
    std::vector<std::string> known = state_names();
    for (const auto& p : spec_.parameters) known.push_back(p.name);
    for (const auto& c : spec_.constants) known.push_back(c.name);
    for (const auto& [name, value] : overrides_)
      if (std::ranges::find(known, name) == known.end())
        throw SettingError(fmt::format("set {}={}: the model '{}' has no parameter, constant or state '{}'; {}", name,
                                       value, spec_.name, name, suggestion(name, known)));
  }

  void constant(const std::string& key, const toml::node& node) {
    const double* instead = overridden(key);
    if (const toml::array* array = node.as_array()) {
      std::vector<double> values = file_.numbers(*array, fmt::format("an entry of the constant '{}'", key));
      if (instead) std::ranges::fill(values, *instead);
      spec_.vector_constant(key, std::move(values));
    } else {
      const double value = file_.number(node, fmt::format("the constant '{}'", key));
      spec_.constant(key, instead ? *instead : value);
    }
  }

  // An array has one entry for each component of some vector state.
  void check_arrays() const {
    for (const auto& c : spec_.constants) {
      const auto fits = [&](const StateSpec& s) { return s.start.size() == c.values.size(); };
      if (c.vector && !std::ranges::any_of(spec_.states, fits))
        file_.fail(*file_.root()["constants"][c.name].node(),
                   fmt::format("the array '{}' has {} entries, which is the size of no state; give one entry for each "
                               "component",
                               c.name, c.values.size()));
    }
  }

  // Calls f with the text; a complaint about it shows its place.
  template <class F>
  auto inside(const toml::node& text, F&& f) const {
    try {
      return f(text.as_string()->get());
    } catch (const ParseError& e) {
      file_.fail_inside(text, e.position, e.what());
    }
  }

  // A number, an expression of constants, or normal(mean, sd).
  Start start(const std::string& key, const toml::node& node) const {
    const std::string what = fmt::format("the start of '{}'", key);
    Start s{0, 0};
    if (node.is_string())
      s = inside(node, [&](const std::string& text) { return parse_start(text, spec_, scopes_.start()); });
    else
      s.mean = file_.number(node, what + " (or normal(mean, sd) in quotes)");
    if (const double* instead = overridden(key)) s.mean = *instead;
    if (!std::isfinite(s.mean) || !std::isfinite(s.sd) || s.sd < 0)
      file_.fail(node, fmt::format("{} must be finite, with a standard deviation that is not negative", what));
    return s;
  }

  std::size_t size_of(const std::string& key, const toml::node& node) const {
    double size = 0;
    if (const auto* name = node.as_string()) {
      const auto at = std::ranges::find(spec_.constants, name->get(), &ConstantSpec::name);
      if (at == spec_.constants.end() || at->vector)
        file_.fail(node, fmt::format("the size of '{}' must be a whole number or the name of a constant", key));
      size = at->values[0];
    } else {
      size = file_.number(node, fmt::format("the size of '{}'", key));
    }
    if (size < 1 || size > kMostComponents || size != std::trunc(size))
      file_.fail(node, fmt::format("the size of '{}' must be a whole number from 1 to {}", key, kMostComponents));
    return static_cast<std::size_t>(size);
  }

  void state(const std::string& key, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (!table) {
      const Start s = start(key, node);
      spec_.state(key, s.mean, s.sd);
      return;
    }
    file_.allow_keys(*table, {"size", "start"}, " of '" + key + "'");
    if (!table->contains("start"))
      file_.fail(node, fmt::format("'{}' needs a start, as in {{ size = 3, start = 0 }}", key));
    const toml::node& at = *table->get("start");
    const std::size_t size = table->contains("size") ? size_of(key, *table->get("size")) : 1;
    const toml::array* array = at.as_array();
    if (array && array->size() != size)
      file_.fail(at, fmt::format("'{}' has {} component{}, but its start has {} entries; give one for each", key, size,
                                 size == 1 ? "" : "s", array->size()));
    std::vector<double> mean, sd;
    for (std::size_t c = 0; c < size; ++c) {
      const Start s = start(key, array ? *array->get(c) : at);
      mean.push_back(s.mean), sd.push_back(s.sd);
    }
    spec_.vector_state(key, std::move(mean), std::move(sd));
  }

  void parameter(const std::string& key, const toml::node& node) {
    Parameter p{key, 0};
    if (const toml::table* table = node.as_table()) {
      const auto read = [&](const char* entry, const char* what, double& value) {
        if (const toml::node* n = table->get(entry))
          value = file_.number(*n, fmt::format("the {} of '{}'", what, key), &value == &p.start);
      };
      file_.allow_keys(*table, {"start", "lower", "upper"}, " of '" + key + "'");
      if (!table->contains("start"))
        file_.fail(node, fmt::format("'{}' needs a start, as in {{ start = 1, lower = 0 }}", key));
      read("start", "start", p.start);
      read("lower", "lower bound", p.lower);
      read("upper", "upper bound", p.upper);
    } else {
      p.start = file_.number(node, fmt::format("the start of the parameter '{}'", key));
    }
    if (const double* instead = overridden(key)) {
      p.start = *instead;
      if (p.lower < p.upper && !p.admits(p.start))
        throw SettingError(
            fmt::format("set {}={}: the value is not between the bounds {} and {}; choose one inside, or change the "
                        "bounds in the model file",
                        key, p.start, p.lower, p.upper));
    }
    spec_.parameter(p);
  }

  TomlFile::Entries per_state(const char* section) const {
    const std::vector<std::string> known = state_names();
    TomlFile::Entries entries = file_.section(section);
    for (const Entry& e : entries)
      if (std::ranges::find(known, e.key) == known.end())
        file_.unknown_key(e, known, fmt::format(" in [{}]: there is no such state", section));
    return entries;
  }

  Expr expression(const toml::node& node, const Scope& scope) {
    if (node.is_number()) return spec_.number(file_.number(node, "this entry"));
    if (!node.is_string()) file_.fail(node, "a number, or an expression in quotes, is expected here");
    return inside(node, [&](const std::string& text) { return parse_expression(text, *spec_.graph, scope); });
  }

  void diffusion(const std::string& key, const toml::node& node) {
    const Scope scope = scopes_.diffusion();
    const toml::array* array = node.as_array();
    if (!array) return spec_.diffusion(key, expression(node, scope));
    const auto row_of = [&](const toml::array& entries) {
      std::vector<Expr> row;
      for (const auto& item : entries) row.push_back(expression(item, scope));
      return row;
    };
    std::vector<std::vector<Expr>> rows;
    if (array->empty() || !array->front().is_array()) {
      rows.push_back(row_of(*array));
    } else {
      for (const auto& item : *array) {
        if (!item.is_array()) file_.fail(item, "each row of the diffusion must be a list, as in [[1, 0], [0, 1]]");
        rows.push_back(row_of(*item.as_array()));
      }
    }
    spec_.diffusion_rows(key, std::move(rows));
  }

  void observation(const std::string& key, const toml::node& node) {
    Scope scope = scopes_.observation();
    if (const toml::table* table = node.as_table()) {
      file_.allow_keys(*table, {"log_density"}, " of '" + key + "'");
      if (!table->contains("log_density"))
        file_.fail(node, fmt::format("'{}' needs a distribution, or {{ log_density = \"…\" }}", key));
      scope.names[key] = {spec_.observed(key), {}};
      return spec_.observe(key, {Distribution::custom, {}, expression(*table->get("log_density"), scope)});
    }
    if (!node.is_string()) file_.fail(node, "a distribution in quotes is expected, as in \"normal(x, 1)\"");
    spec_.observe(key, inside(node, [&](const std::string& text) { return parse_density(text, *spec_.graph, scope); }));
  }

  const TomlFile& file_;
  const Overrides& overrides_;
  ModelSpec spec_;
  Scopes scopes_;
};
}  // namespace

Model parse_model(std::string_view text, const std::string& source, const Overrides& overrides) {
  const TomlFile file(text, source);
  try {
    return Model(Reader(file, overrides).read());
  } catch (const SpecError& e) {
    for (const TomlFile::Entry& entry : file.section(e.section.c_str()))
      if (entry.key == e.key.substr(0, e.key.find('['))) file.fail(entry, e.what());
    if (const toml::node* section = file.root()[e.section].node()) file.fail(*section, e.what());
    file.fail(e.what());
  }
}

Model read_model(const std::filesystem::path& file, const Overrides& overrides) {
  return parse_model(read_text(file), file.string(), overrides);
}
}  // namespace mckean
