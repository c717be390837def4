// A model: states, parameters, interactions, drift, diffusion and observations as expressions.
//
// ModelSpec is what a person writes, by a model file or in C++; Model is what was understood: checked,
// vectors written out component by component, constants replaced by their values.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mckean/error.hpp"
#include "mckean/expr.hpp"

namespace mckean {

// Unconstrained coordinates: θ = lower + e^u, upper − e^u, or a scaled sigmoid between both.
struct Parameter {
  std::string name;
  double start;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool contains(double theta) const { return theta > lower && theta < upper; }
  bool admits(double theta) const { return theta >= lower && theta <= upper; }  // on a bound as well: a start may be
  double unconstrained(double theta) const;                                     // u
  double natural(double u) const;                                               // θ
  double slope(double u) const;                                                 // dθ/du
};

std::string to_text(std::span<const Parameter>, std::span<const double> theta);  // "a = 1, b = 2"

// Where the process starts at t = 0: mean and standard deviation of each component (0: a fixed point).
struct StateSpec {
  std::string name;
  bool vector = false;
  std::vector<double> start, start_sd;
};

struct ConstantSpec {
  std::string name;
  bool vector = false;
  std::vector<double> values;
};

// The law of an observation given the state. `log_density` is an expression of the state and of the observed
// name; a named distribution can also be simulated.
enum class Distribution { normal, student_t, lognormal, poisson, negative_binomial, binomial, custom };
struct Density {
  Distribution distribution = Distribution::custom;
  std::vector<Expr> arguments;  // of a named distribution
  Expr log_density;             // of a custom one
};
Density normal(Expr mean, Expr sd);
Density normal(Expr mean, double sd);

// Where in a specification something is wrong; readers of files turn it into a line.
struct SpecError : InputError {
  SpecError(std::string in_section, std::string at_key, const std::string& message)
      : InputError(message), section(std::move(in_section)), key(std::move(at_key)) {}
  std::string section, key;
};

class Model;

class ModelSpec {
 public:
  explicit ModelSpec(std::string name);

  Expr state(const std::string& name, double start, double start_sd = 0);
  Expr vector_state(const std::string& name, std::vector<double> start, std::vector<double> start_sd);
  Expr parameter(Parameter);
  Expr parameter(const std::string& parameter_name, double start);  // without bounds
  Expr constant(const std::string& name, double value);
  Expr vector_constant(const std::string& name, std::vector<double> values);
  Expr interaction(const std::string& name, Expr kernel);  // its average over the law of the primed states
  void drift(const std::string& state, Expr);
  void drift(Expr state, Expr);
  void diffusion(const std::string& state, Expr);  // diagonal
  void diffusion(Expr state, Expr);
  void diffusion(Expr state, double);
  void diffusion_rows(const std::string& state, std::vector<std::vector<Expr>>);  // one row a component
  Expr observed(const std::string& name);  // the observed value, for custom densities
  void observe(const std::string& name, Density);
  Model build() const;  // throws SpecError

  Expr time();
  Expr number(double v) { return graph->number(v); }

  std::string name;
  std::shared_ptr<Graph> graph;
  std::vector<StateSpec> states;
  std::vector<Parameter> parameters;
  std::vector<ConstantSpec> constants;
  std::vector<std::pair<std::string, Expr>> interactions;
  std::vector<std::pair<std::string, Expr>> drifts;
  std::vector<std::pair<std::string, std::vector<std::vector<Expr>>>> diffusions;  // 1 x 1: diagonal
  std::vector<std::pair<std::string, Density>> observations;
};

// One component of the state.
struct Component {
  std::string name;
  Expr symbol;
  double start, start_sd;
  Expr drift;
  std::vector<Expr> diffusion;  // its row of σ: the coefficient of each source of noise
  bool noisy;
};

// One scalar interaction: its symbol in the drift, and ξ(x, x').
struct Interaction {
  std::string name;
  Expr symbol, kernel;
};

struct ObservedColumn {
  std::string name;
  Expr symbol;       // the observed value
  Expr log_density;  // log G_θ(x, y)
  Distribution distribution;
  std::vector<Expr> arguments;  // of a named distribution
};

class Model {
 public:
  explicit Model(ModelSpec);  // throws SpecError; nothing is added to the graph of the specification from then on
  Model copy() const;         // with a graph of its own, in which expressions can be derived from the model's

  const std::string& name() const { return spec_.name; }
  const ModelSpec& spec() const { return spec_; }
  Graph& graph() const { return *spec_.graph; }
  const std::vector<Parameter>& parameters() const { return spec_.parameters; }
  const std::vector<Expr>& parameter_symbols() const { return parameter_symbols_; }
  const std::vector<Component>& components() const { return components_; }
  const std::vector<Interaction>& interactions() const { return interactions_; }
  const std::vector<ObservedColumn>& observed() const { return observed_; }
  const std::vector<std::string>& columns() const { return columns_; }  // names of the observed columns
  Expr time() const { return time_; }
  std::size_t dimension() const { return components_.size(); }
  std::size_t noise_sources() const { return noise_sources_; }
  bool diagonal() const { return diagonal_; }
  std::vector<double> start_values() const;  // of the parameters

 private:
  ModelSpec spec_;
  std::vector<Expr> parameter_symbols_;
  std::vector<Component> components_;
  std::vector<Interaction> interactions_;
  std::vector<ObservedColumn> observed_;
  std::vector<std::string> columns_;
  Expr time_;
  std::size_t noise_sources_ = 0;
  bool diagonal_ = true;
};

// `name=value` replaces the start of a parameter or the value of a constant before anything is built.
using Overrides = std::vector<std::pair<std::string, double>>;

// TOML. Throws InputError naming source, line, column (with a caret) and cause.
Model parse_model(std::string_view text, const std::string& source, const Overrides& = {});
Model read_model(const std::filesystem::path& file, const Overrides& = {});
}  // namespace mckean
