// One coupled iteration of Procedure 2 on the Kuramoto model against the plain double loop of the paper; how its cost
// grows with N, M, T and the level; and the memory of a filter at level 10.
#include <fmt/format.h>
#include <sys/resource.h>

#include "estimate/chain.hpp"
#include "harness.hpp"
#include "kuramoto_model.hpp"
#include "mckean/simulate.hpp"
#include "plain_iteration.hpp"

namespace {

using namespace mckean;

struct Size {
  int level, T;
  std::size_t M, N;
};

class Bench {
 public:
  explicit Bench(int T) : model_(parse_model(bench::kKuramoto, "kuramoto")), data_(draw(T)) {}

  const std::vector<double>& values() const { return data_.series[0].values; }

  // Seconds of one coupled iteration, best of `rounds`.
  double seconds(const Size& size, Smoother smoother, int rounds) const {
    const Problem problem(model_, data_, 0, size.level, 1);
    ChainOptions options;
    options.particles = size.M;
    options.law_particles = options.coarse_law_particles = size.N;
    options.smoother = smoother;
    options.start = {0.4};
    options.precondition = Eigen::MatrixXd::Constant(1, 1, 1e-5);
    CoupledChain chain(problem, options, {1, 0, size.level});
    return bench::best_of(rounds, {[&] { chain.advance(); }})[0];
  }

  void filter_memory(int level, std::size_t M) const {
    const Problem problem(model_, data_, 0, level, 1);
    ChainOptions options;
    options.particles = M;
    options.law_particles = 500;
    options.start = {0.4};
    Chain chain(problem, options, {1, 0, level});
    chain.advance(true);
  }

 private:
  Data draw(int T) const {
    std::vector<double> times;
    for (int t = 1; t <= T; ++t) times.push_back(t);
    return simulate(model_, model_.start_values(), times, {});
  }
  Model model_;
  Data data_;
};

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}
}  // namespace

int main() {
  const Bench bench(100);
  bench.filter_memory(10, 1000);
  fmt::print("filter at level 10, M = 1000, T = 100: peak memory of the whole process {:.0f} MB\n", peak_megabytes());

  const Size base{8, 100, 100, 64};
  const double plain = plain_iteration_seconds(base.level, base.T, base.M, base.N, bench.values());
  fmt::print(
      "coupled Kuramoto iteration, level 8, T = 100, M = 100, N = 64, one thread\n  plain double loop {:10.1f} ms\n",
      1e3 * plain);
  for (const Smoother s : {Smoother::genealogy, Smoother::backward}) {
    const double ours = bench.seconds(base, s, 15);
    fmt::print("  {:17} {:10.1f} ms   {:.0f} times faster\n", s == Smoother::genealogy ? "genealogy" : "backward",
               1e3 * ours, plain / ours);
  }

  fmt::print("ms an iteration (backward), one thing changed at a time from level 6, M = 100, N = 64, T = 100\n");
  const Size from{6, 100, 100, 64};
  const auto row = [&](const char* what, std::size_t value, const Size& size, const Bench& b) {
    fmt::print("  {:6} {:6} {:8.2f}\n", what, value, 1e3 * b.seconds(size, Smoother::backward, 7));
  };
  for (const int level : {4, 5, 6, 7, 8, 9})
    row("level", static_cast<std::size_t>(level), {level, from.T, from.M, from.N}, bench);
  for (const std::size_t M : {100, 200, 400, 800}) row("M", M, {from.level, from.T, M, from.N}, bench);
  for (const std::size_t N : {64, 256, 1024, 4096}) row("N", N, {from.level, from.T, from.M, N}, bench);
  for (const int T : {50, 100, 200, 400})
    row("T", static_cast<std::size_t>(T), {from.level, T, from.M, from.N}, Bench(T));
}
