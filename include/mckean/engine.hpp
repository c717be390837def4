// How a likelihood is computed: one interface, several engines.
//
// An engine is a pure function of (θ, effort, draw): whoever asks twice gets the same bits, and one object serves many
// threads. What is inferred (a maximum, a profile, a check) is written against this interface alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mckean/problem.hpp"
#include "mckean/scheme.hpp"

namespace mckean {

inline constexpr int kContinuous = -1;  // the level of the diffusion itself, where an engine has it

// How carefully. Exact engines read steps and temper alone.
struct Effort {
  int level = 4;                                     // a unit of time is split into 2^level steps
  Scheme scheme = Scheme::euler;                     // of these steps
  bool extrapolated = false;                         // from this level and finer ones to the diffusion: exact engines
  std::size_t particles = 256, law_particles = 512;  // M and N
  double temper = 1;                                 // β: every observation counts as that share of one, G^β
  bool ahead = false;                                // particles are moved towards the next observation
  double widening = 1.5;                             // of the normal law that they then aim at, from 1
  bool operator==(const Effort&) const = default;
};

// Names the noise; exact engines ignore it.
struct Draw {
  std::uint64_t seed = 1;
  std::uint32_t index = 0;
};

enum class Order { value, information };  // information: gradient and observed information as well

struct Request {
  Effort effort = {};
  bool predictions = false;  // also the errors of one-step predictions
  bool accepts_implausible =
      true;               // else observations deep in the tails of what is predicted are a failure, or a finding
  bool quiet_law = true;  // the law's particles in pairs with opposite noise
  double most_work = 0;   // beyond which it is a failure; 0: no limit
  double error = 0;       // that an exact engine may leave in a log-likelihood; 0: rounding alone
  // Log units between the two finest levels of an extrapolation, beyond which it is a failure: no power of the steps'
  // length describes what they leave.
  double most_apart = 0.25;
  std::stop_token stop = {};
};

struct Evaluation {
  double loglik = 0;
  std::vector<double> gradient, information;  // in θ; information: −∂² log p, row by row. Empty unless asked for
  double work = 0;                            // particle-steps, or what an exact engine counts in their place
  // (y − its prediction)/sd of the prediction, from all observations before it: series by series, row by row, column by
  // column. NaN where y is missing or its distribution has no moments.
  std::vector<double> prediction_errors;
  std::vector<std::string> warnings;  // observations at which one particle carries all the weight
  std::vector<int> levels;            // that were extrapolated
  double apart = 0;                   // log units between the two finest of them
};

// The state at one time, given all observations.
struct Smoothed {
  double mean, sd, q05, q50, q95;
};
using States = std::vector<std::vector<std::vector<Smoothed>>>;  // series by series, component by component, row by row

// There is no likelihood at θ: an infinite potential with a reason, not an exception.
struct Failure {
  // too_coarse: steps are too long at this level; a finer one may have a likelihood.
  enum class Code { undefined, implausible, too_much_work, too_coarse } code = Code::undefined;
  std::string message = {};
  double work = 0;  // that it took, where levels before it had values
};

template <class T>
class Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Failure failure) : held_(std::move(failure)) {}
  explicit operator bool() const { return held_.index() == 0; }
  const T& operator*() const { return std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  const Failure& failure() const { return std::get<1>(held_); }

 private:
  std::variant<T, Failure> held_;
};
using Outcome = Result<Evaluation>;

// A law at θ, which the caller may keep while θ stands and the engine lives.
class Law {
 public:
  explicit Law(std::span<const double> theta) : theta_(theta.begin(), theta.end()) {}
  virtual ~Law() = default;
  const std::vector<double>& theta() const { return theta_; }

 private:
  std::vector<double> theta_;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;
  virtual bool exact() const = 0;                              // no Monte Carlo error: one draw suffices
  virtual bool continuous() const { return false; }            // it serves kContinuous
  virtual Scheme scheme() const { return Scheme::splitting; }  // of steps that come closest to the diffusion
  virtual Order serves() const = 0;                            // the highest
  virtual const std::vector<Parameter>& parameters() const = 0;

  // Both throw Stopped soon after a stop is requested, and nothing else.
  virtual Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const = 0;
  virtual Outcome evaluate(const Law&, Order, Draw, const Request&) const = 0;
  // Both in one, and what else an effort asks for. Where a coarse level has no likelihood at θ, finer ones are
  // extrapolated.
  Outcome at(std::span<const double> theta, Order, Draw, const Request&) const;
  Result<States> states_at(std::span<const double> theta, const Request&) const;  // where it smooths

  virtual bool smooths() const { return false; }  // it serves the next one
  virtual std::optional<Result<States>> states(const Law&, const Request&) const { return {}; }

  // What there is of a law: none, one that costs a step per particle, one of pairs.
  enum class LawKind { none, moments, pairs };
  virtual LawKind law_kind() const { return LawKind::none; }
  virtual bool looks_ahead() const { return false; }  // it serves Effort::ahead
  // Of one particle, by its operations: about 1 for models of two equations.
  virtual double step_cost(const Effort&) const { return 1; }
};

struct EngineOptions {
  int level = 4;  // at which the rank of expansions is found
  std::uint64_t seed = 1;
  bool full_precision = false;  // 64-bit normals
};

struct EngineKind {
  const char* name;
  bool exact;
  // Why it cannot serve a problem; none where it can.
  std::optional<std::string> (*refuses)(const Problem&);
  std::unique_ptr<const Engine> (*make)(const Problem&, const EngineOptions&);
};

// Exact ones first: the first that does not refuse a problem is the one to take.
std::span<const EngineKind> engine_kinds();
// Throws InputError where there is none of this name, or where it refuses.
std::unique_ptr<const Engine> make_engine(std::string_view name, const Problem&, const EngineOptions& = {});
}  // namespace mckean
