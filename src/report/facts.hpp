// What a report is made from, and what is known of the run: read from its store, not computed.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "infer/fit.hpp"
#include "mckean/data.hpp"
#include "run/store.hpp"

namespace mckean::report {

struct Input {
  const Model& model;  // with the run's own values of parameters and constants
  const Data& data;
  const Store& store;
  FitPlan plan;
  double unit = 0;
  nlohmann::ordered_json run;  // as `mckean export` writes it
  std::string command;         // the command line that begins the same run
  std::size_t threads = 1;
};

// Replicates of one cell of the multilevel sum, in order.
struct CellDraws {
  int level, p;
  std::vector<std::uint32_t> index;
  std::vector<std::vector<double>>
      difference;  // in unconstrained coordinates for stratified, in θ for paper and single
  std::vector<double> particle_steps;
};

struct Estimate {
  std::string name;
  std::optional<double> value, mc_se, std_error, lower, upper;
  AtBound at_bound = AtBound::none;
};

// One likelihood of a search, and the group of tasks that it belongs to, without the prefix of all of them.
struct Evaluation {
  std::string group;
  search::Record record;
};

struct Facts {
  explicit Facts(const Input&);

  bool finished = false;
  bool converged = true;  // false only where the result says so
  // What the fit was made by; all are false where an unfinished run has not chosen yet.
  bool exact = false, search = false, chains = false;
  std::string engine;               // of a finished run
  bool continuous = false;          // its answer is that of the diffusion
  std::vector<Estimate> estimates;  // of the result, or so far; a line a parameter in any case
  std::vector<double> theta;        // where everything is computed: of a parameter at its bound, just inside
  std::string place;                // what that is: "the estimate"
  bool inside = true;               // θ is within its bounds
  // Of which things are drawn; in continuous time of Euler's, the finest that were used, or fine ones.
  Steps steps = 0;
  std::size_t particles = 0, law_particles = 0;
  std::optional<Eigen::MatrixXd>
      information;               // in unconstrained coordinates; 0 for parameters that have no standard error
  std::vector<Cell> cells;       // of the result, or so far
  std::vector<CellDraws> draws;  // by level, then p
  std::vector<std::vector<double>> replicates;  // estimates of paper and single, in order
  std::vector<double> replicate_steps;
  std::size_t replicate_count = 0;
  std::vector<Evaluation> evaluations;  // of a search, in its order
  std::vector<std::string> warnings;

 private:
  void read_estimates(const Input&);
  void read_engine(const Input&);
  void read_place(const Input&);
  void read_information(const Input&);
  void read_sizes(const Input&);
  void read_tasks(const Input&);
  void read_evaluations(const Input&);
  void read_cells(const Input&);
};
}  // namespace mckean::report
