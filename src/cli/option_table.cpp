#include <limits>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "mckean/fit.hpp"
#include "mckean/simulate.hpp"
#include "problem/grid.hpp"

namespace mckean::cli {
namespace {

using A = Arguments;
using C = Command;
using R = Reader;

constexpr unsigned kChains = R::stratified | R::paper | R::single, kRandom = R::search | kChains;
constexpr unsigned kHeld = C::score | C::smooth;  // chains that hold θ
constexpr unsigned kWithData = C::loglik | kHeld | C::fit | C::profile, kWithModel = C::check | C::simulate | kWithData;
constexpr unsigned kWithRun = C::resume | C::save | C::report;
constexpr std::size_t kFewestPoints = 3, kMostPoints = 200;

const std::string kParticles = "particles of the smoother, a number or a rule of l, L and T";
const std::string kLawParticles = "particles of the law, a number or a rule such as l*L";
const std::string kLevel = "a unit of time is split into 2^level Euler steps";
const std::string kScheme =
    "steps of particles: splitting (noise over half a step, the drift's flow, noise over half a step), or euler, "
    "the default where levels are given";
const std::string kIterations = "iterations of each chain that are used", kChainCount = "independent chains";

// By command and option, the defaults of the library.
const Effort kLikelihood{.level = 5, .particles = 4096, .law_particles = 4096};
const SmoothOptions kSmooth;
const SimulateOptions kSimulate;
const FitOptions kFit;

// Settings of a fit are stored in this order. A flag that means different things to different commands has several
// rows.
// clang-format off
const std::vector<Option> kOptions = {
    {"MODEL", &A::model, kWithModel, {.key = "model", .required = true}, "model file"},
    {"DATA", &A::data, C::check, {}, "data file (CSV)"},
    {"DATA", &A::data, kWithData, {.key = "data", .required = true}, "data file (CSV)"},
    {"NAME", &A::name, C::create, {.required = true}, "name of the model"},
    {"DIR", &A::folder, kWithRun, {.required = true}, "folder of the run"},
    {"DIR", &A::folder, C::runs, {.fallback = "."}, "folder that holds runs, or a run"},
    {"FIGURE", &A::figures, C::reproduce, {.check = CLI::IsMember({"1", "2", "3", "4", "all"}), .required = true},
     "1: Kuramoto oscillators over time; 2: a neural network over time, its weights and biases; 3: mean squared "
     "error against cost with L = 4; 4: the same with L = 8; all"},
    {"--set", &A::set, C::create | kWithModel, {.key = "set"},
     "name=value: instead of a start value or constant of the model; may be repeated"},
    {"--seed", &A::seed, C::create | kWithModel | C::reproduce,
     {.fallback = "1", .check = whole_number(0, std::numeric_limits<std::uint64_t>::max()), .key = "seed"},
     "seed of all random numbers"},
    {"--times", &A::times, C::simulate, {.required = true},
     "observation times: T for 1, 2, …, T; FROM:STEP:TO; or a list T1,T2,…"},
    {"--parameter", &A::parameter, C::profile, {.required = true},
     "the parameter; all others are at their maximum given its value"},
    {"--points", &A::points, C::profile, {.fallback = "9", .check = whole_number(kFewestPoints, kMostPoints)},
     "values of the parameter, evenly spaced in unconstrained coordinates"},
    {"--range", &A::range, C::profile, {}, "LO:HI (default: the estimate with 3 standard errors to either side)"},
    {"--scale", &A::scale, C::reproduce, {.fallback = "quick", .check = CLI::IsMember({"quick", "paper"})},
     "quick: minutes; paper: the paper's sizes, many core-hours"},
    {"--engine", &A::engine, C::fit,
     {.fallback = "auto", .check = CLI::IsMember({"auto", "kalman", "quadrature", "particles"}), .key = "engine"},
     "how the likelihood is computed: kalman (exact, for linear models with normal noise), quadrature (exact, for "
     "components that meet only through the law), particles, or auto: the first of them that applies at an "
     "acceptable cost"},
    {"--engine", &A::engine, C::loglik | kHeld | C::profile,
     {.fallback = "auto", .check = CLI::IsMember({"auto", "kalman", "quadrature", "particles"})},
     "how it is computed, as for fit; options that concern particles imply particles"},
    {"--estimator", &A::estimator, C::fit,
     {.check = CLI::IsMember({"stratified", "paper", "single", "quadrature"}), .key = "estimator"},
     "in place of a search by the likelihood, along chains of smoothed paths: stratified (centred, preconditioned, "
     "a fixed number of replicates in each cell), paper (the randomised multilevel estimator as printed), single "
     "(one level, --iterations long); quadrature: the same as --engine quadrature"},
    {"--estimator", &A::estimator, C::profile, {.check = CLI::IsMember({"quadrature", "scores"})},
     "quadrature: the same as --engine quadrature; scores: integrated scores of the smoother, as --engine particles "
     "does it"},
    {"--scheme", &A::scheme, C::fit,
     {.check = CLI::IsMember({"euler", "splitting"}), .key = "scheme", .readers = R::search}, kScheme},
    {"--scheme", &A::scheme, C::simulate | C::loglik, {.check = CLI::IsMember({"euler", "splitting"})}, kScheme},
    {"--levels", &A::levels, C::fit, {.key = "levels"},
     "lowest and highest level, LOW:HIGH; single and quadrature use the highest (default: chosen; 2:4 for paper "
     "and single)"},
    {"--level", &A::level, C::simulate,
     {.fallback = std::to_string(kSimulate.level), .check = whole_number(0, kHighestLevel)},
     kLevel + "; without it and --unit the diffusion is simulated, by as many splitting steps as that takes"},
    {"--level", &A::level, C::loglik,
     {.fallback = std::to_string(kLikelihood.level), .check = whole_number(0, kHighestLevel)},
     kLevel + "; exact engines answer in continuous time without it"},
    {"--level", &A::level, kHeld, {.fallback = std::to_string(kSmooth.level), .check = whole_number(0, kHighestLevel)},
     kLevel + "; exact engines answer in continuous time without it"},
    {"--level", &A::level, C::profile, {.check = whole_number(0, kHighestLevel)},
     kLevel + "; without it exact engines answer in continuous time, and a pilot chooses that of scores"},
    {"--particles", &A::particles, C::loglik,
     {.fallback = std::to_string(kLikelihood.particles), .check = whole_number(1, kMostParticles)},
     "particles of the filter"},
    {"--particles", &A::particles, kHeld, {.fallback = kSmooth.particles}, kParticles},
    {"--particles", &A::particles, C::fit | C::profile, {.key = "particles", .readers = kRandom}, kParticles},
    {"--law-particles", &A::law_particles, C::simulate,
     {.fallback = std::to_string(kSimulate.law_particles), .check = whole_number(1, kMostParticles)},
     "particles of the system; without it, --level and --unit they are chosen"},
    {"--law-particles", &A::law_particles, C::loglik,
     {.fallback = std::to_string(kLikelihood.law_particles), .check = whole_number(1, kMostParticles)},
     "particles of the law"},
    {"--law-particles", &A::law_particles, kHeld, {.fallback = kSmooth.law_particles}, kLawParticles},
    {"--law-particles", &A::law_particles, C::fit | C::profile, {.key = "law_particles", .readers = kRandom},
     kLawParticles},
    {"--series", &A::series, C::simulate,
     {.fallback = std::to_string(kSimulate.series), .check = whole_number(1, kMostParticles)},
     "particles that are observed, each a series"},
    {"--repeats", &A::repeats, C::loglik, {.fallback = "16", .check = whole_number(1, kMostRepeats)},
     "independent estimates that are averaged"},
    {"--proposal", &A::proposal, C::loglik, {.fallback = "plain", .check = CLI::IsMember({"plain", "ahead"})},
     "how the filter's particles move: plain (the model's own steps) or ahead (towards the next observation: for "
     "precise data)"},
    {"--smoother", &A::smoother, kHeld | C::fit | C::profile,
     {.check = CLI::IsMember({"backward", "genealogy"}), .key = "smoother", .readers = kChains},
     "backward (new ancestors by their density) or genealogy (as in the paper); default: backward, but genealogy "
     "for --estimator paper"},
    {"--gradient", &A::gradient, C::score | C::fit | C::profile,
     {.fallback = "tangent", .check = CLI::IsMember({"tangent", "finite-difference"}), .key = "gradient",
      .readers = kChains},
     "derivative of the law: tangent, or finite-difference as in the paper"},
    {"--unit", &A::unit, C::simulate, {.check = positive_number()},
     "unit of time (default: the median spacing of the times)"},
    {"--unit", &A::unit, kWithData, {.check = positive_number(), .key = "unit"},
     "unit of time (default: the median spacing of the observations)"},
    {"--full-normals", &A::full_normals, C::simulate | kWithData, {.key = "full_normals", .readers = kChains},
     "64-bit instead of 32-bit normal variates"},
    {"--replicates", &A::replicates, C::fit,
     {.check = whole_number(2, kMostReplicates), .key = "replicates", .readers = kChains},
     "independent replicates (paper and single: 200)"},
    {"--replicates", &A::replicates, C::resume,
     {.check = whole_number(2, std::numeric_limits<std::uint32_t>::max()), .key = "replicates", .readers = kChains},
     "another number of replicates"},
    {"--tolerance", &A::tolerance, C::fit, {.check = positive_number(), .key = "tolerance", .readers = kRandom},
     "until the Monte Carlo error of every parameter is below this (default: a tenth of its standard error)"},
    {"--tolerance", &A::tolerance, C::resume, {.check = positive_number(), .key = "tolerance", .readers = kRandom},
     "another tolerance"},
    {"--tolerance", &A::tolerance, C::simulate, {.check = positive_number()},
     "without --level and --unit: until steps change the law by less than this, in its standard deviations, and chance by less than twice this "
     "(default 0.01)"},
    {"--tolerance", &A::tolerance, C::loglik, {.check = positive_number()},
     "without sizes of particles: until all errors together are below this, in log units (default 0.1)"},
    {"--tolerance", &A::tolerance, C::smooth, {.check = positive_number()},
     "without sizes of particles and chains: until the errors of the means are below this, in standard deviations of the "
     "smoothed state (default 0.1)"},
    {"--tolerance", &A::tolerance, C::score, {.check = positive_number()},
     "without sizes of particles and chains: until the errors are below this, in square roots of the information, which "
     "is in standard errors of the step to the maximum (default 0.1)"},
    {"", &A::first_tolerance, C::fit, {.key = "first_tolerance"}, ""},
    {"--iterations", &A::iterations, C::score, {.fallback = "200", .check = whole_number(1, kMostIterations)},
     kIterations},
    {"--iterations", &A::iterations, C::smooth,
     {.fallback = std::to_string(kSmooth.iterations), .check = whole_number(1, kMostIterations)},
     kIterations},
    {"--iterations", &A::iterations, C::fit,
     {.check = whole_number(1, kMostIterations), .key = "iterations", .readers = R::stratified | R::single},
     "iterations of a chain: T_0 of stratified (default: chosen), all of single (100)"},
    {"--burn-in", &A::burn_in, kHeld,
     {.fallback = std::to_string(kSmooth.burn_in), .check = whole_number(0, kMostIterations)},
     "iterations before those, left out"},
    {"--chains", &A::chains, C::score,
     {.fallback = std::to_string(kSmooth.chains), .check = whole_number(2, kMostRepeats)},
     kChainCount},
    {"--chains", &A::chains, C::smooth,
     {.fallback = std::to_string(kSmooth.chains), .check = whole_number(1, kMostRepeats)},
     kChainCount},
    {"--step", &A::step, C::fit, {.key = "step", .readers = kChains},
     "G,N0,RHO: the step is G*(N0 + n)^-RHO times the inverse observed information (paper and single: "
     "complete-data information, 1,0,0.7)"},
    {"--p-max", &A::most_p, C::fit, {.key = "p_max", .readers = R::stratified | R::paper},
     "largest p (stratified: 0; paper: 6, or inf for no bound)"},
    {"--level-weight", &A::level_weight, C::fit,
     {.fallback = kFit.level_weight, .key = "level_weight", .readers = R::paper},
     "paper: probability of level l, up to a factor"},
    {"--length-weight", &A::length_weight, C::fit,
     {.fallback = kFit.length_weight, .key = "length_weight", .readers = R::paper},
     "paper: probability of p, up to a factor"},
    {"--chain-length", &A::chain_length, C::fit,
     {.fallback = kFit.chain_length, .key = "chain_length", .readers = R::paper},
     "paper: iterations of a chain of length p"},
    {"--starts", &A::starts, C::fit,
     {.check = whole_number(1, 1000), .key = "starts", .readers = R::search | R::quadrature | R::stratified},
     "begin from this many starts, and report different maxima as such (default: 2, and more where they disagree; "
     "stratified: 1)"},
    {"--budget", &A::budget, C::fit, {.key = "budget"},
     "time after which no new work is begun: 90s, 10m, 2h"},
    {"--budget", &A::budget, C::resume, {.key = "budget"},
     "another budget of time: 90s, 10m, 2h, all sittings together"},
    {"--out", &A::out, C::simulate, {.fallback = "data.csv"}, "data file to write; - for stdout"},
    {"--out", &A::out, C::smooth, {.required = true}, "CSV file to write; - for stdout"},
    {"--out", &A::out, C::profile, {}, "also write the grid as CSV; - for stdout, and nothing else there"},
    {"--out", &A::out, C::save, {}, "folder to write to (default: that of the run)"},
    {"--out", &A::out, C::report, {}, "file to write (default: report.html in the folder of the run); - for stdout"},
    {"--out", &A::out, C::reproduce, {}, "folder for tables, figures and runs (default: figures-SCALE)"},
    {"--paths", &A::paths, C::simulate, {}, "also write whole paths of particles to this file (CSV)"},
    {"--count", &A::count, C::simulate, {.fallback = "100", .check = whole_number(1, kMostParticles)},
     "how many particles' paths"},
    {"--config", &A::config, C::reproduce, {}, "folder with other versions of the files of experiments/figures"},
    {"--run", &A::run, C::fit, {}, "folder that keeps the run (default: a new one, NAME-1, NAME-2, …)"},
    {"--no-run", &A::no_run, C::fit, {.excludes = "--run"}, "keep nothing on disk"},
    {"--threads", &A::threads, C::simulate | kWithData | C::resume | C::report | C::reproduce,
     {.check = whole_number(1, kMostThreads)},
     "threads (default: all cores)"},
    {"--verbose", &A::verbose, C::fit | C::resume, {}, "print what is decided on the way"},
    {"--verbose", &A::verbose, C::profile, {}, "print what the pilot decides"},
    {"--quiet", &A::quiet, C::fit | C::profile | C::resume | C::reproduce, {}, "no progress"},
    {"--json", &A::json, C::create | kWithModel | kWithRun | C::runs | C::reproduce, {},
     "one JSON object on stdout, messages on stderr"},
};
// clang-format on
}  // namespace

const std::vector<Option>& options() { return kOptions; }
}  // namespace mckean::cli
