#include "infer/exact_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "infer/line_scan.hpp"
#include "noise/noise.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kSpread = 5;       // factor by which a start may be off
constexpr int kMostRounds = 4;      // of scans
constexpr double kHigher = 0.05;    // log units that make a maximum higher than another
constexpr double kSame = 0.1;       // standard errors within which two maxima are one
constexpr double kComparable = 15;  // log units below the best at which a maximum is worth a visit: levels differ
constexpr std::size_t kChunks = 8;

bool between(const Parameter& p) { return std::isfinite(p.lower) && std::isfinite(p.upper); }

class Search {
 public:
  Search(Workbench& bench, ExactTasks& tasks, const ExactSearchOptions& options)
      : bench_(bench), tasks_(tasks), options_(options), parameters_(tasks.engine().parameters()) {}

  ExactSearchResult run() {
    std::vector<Candidate> begins{{bench_.model().start_values(), 0}};
    for (const Candidate& c : spread_out()) begins.push_back(c);
    climb("start", begins);
    if (out_.too_coarse) return std::move(out_);
    for (int round = 0; round < kMostRounds && !out_.maxima.empty(); ++round) {
      const double before = out_.maxima[0].loglik;
      climb(fmt::format("scan {}", round), scan(round));
      if (out_.maxima[0].loglik < before + kHigher) break;
    }
    return std::move(out_);
  }

 private:
  double share(double part, double least, double most) const {
    return std::clamp(part * options_.evaluations, least, most);
  }
  std::size_t visits() const { return static_cast<std::size_t>(share(0.06, 2, 8)); }

  Request request(std::stop_token stop) const { return tasks_.at(options_.steps, std::move(stop)); }

  // The best of points spread about the start values, by their value.
  std::vector<Candidate> spread_out() {
    const auto count = static_cast<std::size_t>(share(0.5, 8, 256));
    std::vector<Task> tasks;
    for (std::uint32_t k = 0; k < kChunks; ++k)
      tasks.push_back({fmt::format("{} spread {}", tasks_.engine().name(), options_.steps.text()), k});
    auto found = merge(run_records(bench_.runner, tasks, [&](std::size_t chunk, const std::stop_token& stop) {
      Candidates out;
      for (std::size_t k = chunk; k < count; k += kChunks)
        if (auto there = value_at(point(k), stop, out.work)) out.best.push_back(*there);
      return out;
    }));
    const std::size_t most = std::max(visits(), std::max<std::size_t>(options_.starts, 2) - 1);
    if (found.size() > most) found.resize(most);
    if (found.empty()) found.push_back({point(0)});
    return found;
  }

  std::optional<Candidate> value_at(std::vector<double> theta, const std::stop_token& stop, double& work) const {
    const Outcome v = tasks_.engine().at(theta, Order::value, {}, request(stop));
    if (!v || !std::isfinite(v->loglik)) return {};
    work += v->work;
    return Candidate{std::move(theta), v->loglik};
  }

  // Between the bounds of a parameter, or off by a factor.
  std::vector<double> point(std::size_t k) const {
    const Stream stream(seed_of(options_.seed, "starts"), static_cast<std::uint32_t>(k), 0, Purpose::data);
    std::vector<double> out = bench_.model().start_values();
    for (std::size_t p = 0; p < out.size(); ++p) {
      const Parameter& parameter = parameters_[p];
      const double u = uniform(stream, 0, static_cast<std::uint32_t>(p));
      const double size = extent(parameter, out[p]), sign = out[p] < origin(parameter) ? -1 : 1;
      if (between(parameter))
        out[p] = parameter.lower + u * (parameter.upper - parameter.lower);
      else if (std::isfinite(parameter.lower) || std::isfinite(parameter.upper))
        out[p] = origin(parameter) + (std::isfinite(parameter.lower) ? 1 : -1) * size * std::pow(kSpread, 2 * u - 1);
      else if (u < 0.5)
        out[p] = sign * size * std::pow(kSpread, 4 * u - 1);
      else
        out[p] += size * (4 * u - 3) * 2;
    }
    return out;
  }

  std::vector<Candidate> merge(const std::vector<Candidates>& parts) {
    std::vector<Candidate> out;
    for (const Candidates& part : parts) {
      out.insert(out.end(), part.best.begin(), part.best.end());
      bench_.particle_steps += static_cast<std::uint64_t>(part.work);
    }
    sort_best_first(out);
    return out;
  }

  // Newton's method from each, as tasks.
  void climb(const std::string& name, const std::vector<Candidate>& from) {
    std::vector<ExactRequest> requests;
    for (const Candidate& c : from) requests.push_back({c.theta});
    if (requests.empty()) return;
    const auto found = tasks_.maximise(name, options_.steps, requests);
    if (name == "start") out_.too_coarse = found[0].too_coarse;
    for (const ExactMaximum& m : found) {
      if (!m.found()) out_.problem = m.problem;
      if (m.found() && !known(m)) out_.maxima.push_back(m);
    }
    std::ranges::stable_sort(out_.maxima,
                             [](const ExactMaximum& a, const ExactMaximum& b) { return a.loglik > b.loglik; });
  }

  bool known(const ExactMaximum& m) const {
    return std::ranges::any_of(out_.maxima, [&](const ExactMaximum& other) {
      return std::abs(m.loglik - other.loglik) < kHigher && distance(m.theta, other) < kSame;
    });
  }
  static double distance(const std::vector<double>& theta, const ExactMaximum& from) {
    const auto n = static_cast<Index>(theta.size());
    const VectorXd away = VectorXd::Map(theta.data(), n) - VectorXd::Map(from.theta.data(), n);
    return std::sqrt(std::max(0.0, away.dot(from.information * away)));
  }

  // Along each parameter through the best maximum: what promises a maximum elsewhere. The first time through the start
  // values as well: where a frequency is wrong its amplitude vanishes at the maximum, and all others look alike from
  // there.
  std::vector<Candidate> scan(int round) {
    std::vector<LineScan> lines;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      lines.push_back({out_.maxima[0].theta, p});
      if (round == 0 && parameters_.size() > 1) lines.push_back({bench_.model().start_values(), p});
    }
    const double each = 0.5 / static_cast<double>(lines.size());
    for (LineScan& line : lines) {
      line.first = static_cast<std::size_t>(share(each, 5, 24));
      line.most = static_cast<std::size_t>(share(40 * each, 10, 400));
      const auto p = static_cast<Index>(line.parameter);
      line.reached = out_.maxima[0].loglik, line.bend = std::abs(out_.maxima[0].information(p, p));
    }
    std::vector<Task> tasks;
    for (std::uint32_t k = 0; k < lines.size(); ++k)
      tasks.push_back({fmt::format("{} line {} {}", tasks_.engine().name(), round, options_.steps.text()), k});
    auto found = merge(run_records(bench_.runner, tasks, [&](std::size_t k, const std::stop_token& stop) {
      return scan_line(tasks_.engine(), request(stop), lines[k]);
    }));
    const double least = out_.maxima[0].loglik - kComparable;
    std::erase_if(found, [&](const Candidate& c) { return !(c.loglik > least) || reaches_known(c); });
    if (found.size() > visits()) found.resize(visits());
    return found;
  }

  // So near to a maximum that is no lower that it can only lead there: along a frequency whose amplitude is small all
  // is near.
  bool reaches_known(const Candidate& c) const {
    return std::ranges::any_of(
        out_.maxima, [&](const ExactMaximum& m) { return c.loglik < m.loglik + kHigher && distance(c.theta, m) < 3; });
  }

  Workbench& bench_;
  ExactTasks& tasks_;
  const ExactSearchOptions& options_;
  const std::vector<Parameter>& parameters_;
  ExactSearchResult out_;
};
}  // namespace

ExactSearchResult exact_search(Workbench& bench, ExactTasks& tasks, const ExactSearchOptions& options) {
  return Search(bench, tasks, options).run();
}
}  // namespace mckean
