// One study of figures 3 and 4: many replicates of the paper's estimator on one model, beside them the single-level
// and the stratified estimator, and the exact estimate by quadrature.
#pragma once

#include <functional>

#include "infer/fit.hpp"
#include "paper/record.hpp"
#include "report/figure_files.hpp"
#include "report/figure_settings.hpp"

namespace mckean {

struct StudySettings {
  std::string name;                 // "kuramoto"
  std::string model, data;          // names of files
  double until = 0;                 // observations after this time are left out
  EstimatorOptions estimator;       // the paper's
  std::size_t repetitions = 0;      // of every number of replicates
  std::size_t least = 0, most = 0;  // M̄, powers of two
  std::size_t reference = 0;        // replicates, apart from the others, whose mean is θ_★^L
  std::size_t single_repetitions = 0, single_most = 0;
  std::size_t fits = 0;                // stratified: repetitions of each of the next
  std::vector<double> fit_replicates;  // its numbers of replicates
  int exact_level = 0;                 // below L: extrapolated from this level and the one below
  nlohmann::ordered_json used;         // all of this, for the run store

  std::size_t pool() const { return repetitions * most; }
};
StudySettings read_study(const TomlFile&, const std::string& name, const std::string& scale);

// What one computation gave.
struct StudySample {
  std::uint64_t particle_steps = 0;
  int level = 0, p = 0;
  std::vector<double> estimate;
};
constexpr auto record_of(const StudySample*) {
  return record("sample of a study", &StudySample::particle_steps, &StudySample::level, &StudySample::p,
                &StudySample::estimate);
}

struct StudyResult {
  std::vector<StudySample> paper;  // the pool, then the reference
  std::vector<StudySample> single;
  std::vector<std::vector<StudySample>> stratified;  // for each number of replicates
  std::vector<double> exact;
  std::vector<std::string> warnings;
};

// `announce` is told what the study will cost, from the first replicates of each cell, before the others begin.
StudyResult run_study(const StudySettings&, const ParticleProblem&, std::uint64_t seed, TaskRunner&, FitObserver&,
                      const std::function<void(const std::string&)>& announce);

Data without_late_rows(Data, double until);
}  // namespace mckean
