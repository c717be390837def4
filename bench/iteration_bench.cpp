// One coupled iteration of Procedure 2 on the Kuramoto model against the plain double loop of the paper; how its cost
// grows with N, M, T and the level; and the memory of a filter at level 10.
#include <fmt/format.h>
#include <sys/resource.h>

#include <limits>
#include <map>
#include <memory>
#include <string_view>

#include "harness.hpp"
#include "kuramoto_model.hpp"
#include "mckean/simulate.hpp"
#include "paper/chain.hpp"
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

  // A coupled iteration, to be run as often as one likes.
  std::function<void()> iteration(const Size& size, Smoother smoother) const {
    const auto problem = std::make_shared<const ParticleProblem>(Problem(model_, data_), size.level, 1);
    ChainOptions options;
    options.particles = size.M;
    options.law_particles = options.coarse_law_particles = size.N;
    options.smoother = smoother;
    options.start = {0.4};
    options.precondition = Eigen::MatrixXd::Constant(1, 1, 1e-5);
    const auto chain = std::make_shared<CoupledChain>(*problem, options, ChainIdentity{1, 0, size.level});
    return [problem, chain] { chain->advance(); };
  }

  void filter_memory(int level, std::size_t M) const {
    const ParticleProblem problem({model_, data_}, level, 1);
    SamplerOptions options;
    options.particles = M;
    options.law_particles = 500;
    PathSampler sampler(problem, options, {1, 0, level});
    const std::vector<double> theta{0.4};
    sampler.start(theta, 0);
    sampler.advance(theta);
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

void against_plain(const Bench& bench) {
  const Size size{8, 100, 100, 64};
  const auto plain = plain_iteration(size.level, size.T, size.M, size.N, bench.values());
  const auto genealogy = bench.iteration(size, Smoother::genealogy),
             backward = bench.iteration(size, Smoother::backward);
  std::vector<double> best(3, std::numeric_limits<double>::infinity());
  for (int round = 0; round < 3; ++round) {
    best[0] = std::min(best[0], bench::once(plain));
    const auto ours = bench::best_of(10, {genealogy, backward});
    for (std::size_t i = 0; i < 2; ++i) best[1 + i] = std::min(best[1 + i], ours[i]);
  }
  fmt::print("coupled Kuramoto iteration, level 8, T = 100, M = 100, N = 64, one thread, ms\n");
  fmt::print("  {:17} {:10.1f}\n", "plain double loop", 1e3 * best[0]);
  fmt::print("  {:17} {:10.1f}   {:.0f} times faster\n", "genealogy", 1e3 * best[1], best[0] / best[1]);
  fmt::print("  {:17} {:10.1f}   {:.0f} times faster\n", "backward", 1e3 * best[2], best[0] / best[2]);
}

// One thing doubled at a time, the others as small as leaves it most of the work.
void growth() {
  struct Row {
    const char* what;
    Size size;
  };
  std::vector<Row> rows;
  for (const int level : {3, 4, 5, 6, 7}) rows.push_back({"level", {level, 50, 500, 500}});
  for (const int T : {25, 50, 100, 200}) rows.push_back({"T", {5, T, 500, 500}});
  for (const int M : {500, 1000, 2000, 4000}) rows.push_back({"M", {5, 50, static_cast<std::size_t>(M), 32}});
  for (const int N : {500, 1000, 2000, 4000}) rows.push_back({"N", {5, 50, 10, static_cast<std::size_t>(N)}});

  std::map<int, Bench> benches;
  std::vector<std::function<void()>> pieces;
  for (const Row& r : rows)
    pieces.push_back(benches.try_emplace(r.size.T, r.size.T).first->second.iteration(r.size, Smoother::backward));
  const auto best = bench::best_of(12, pieces);
  fmt::print("ms an iteration (backward), one thing doubled at a time: linear where a row costs twice the one above\n");
  fmt::print("  {:>5} {:>5} {:>5} {:>5} {:>9} {:>8}\n", "level", "T", "M", "N", "ms", "ratio");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [level, T, M, N] = rows[i].size;
    const bool follows = i > 0 && std::string_view(rows[i].what) == rows[i - 1].what;
    fmt::print("  {:>5} {:>5} {:>5} {:>5} {:9.2f} {:>8}   {}\n", level, T, M, N, 1e3 * best[i],
               follows ? fmt::format("{:.2f}", best[i] / best[i - 1]) : "", follows ? "" : rows[i].what);
  }
}
}  // namespace

int main() {
  const Bench bench(100);
  bench.filter_memory(10, 1000);
  fmt::print("filter at level 10, M = 1000, T = 100: peak memory of the whole process {:.0f} MB\n", peak_megabytes());
  against_plain(bench);
  growth();
}
