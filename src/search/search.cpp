#include "search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/error.hpp"
#include "noise/noise.hpp"
#include "search/explore.hpp"
#include "search/intervals.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr std::size_t kExploring = 256, kSettling = 512, kComparing = 1024;  // M
constexpr std::size_t kPairwiseLaw = 128;
constexpr double kComparable = 3;   // log units within which another maximum is reported
constexpr double kElsewhere = 4;    // standard errors from which on it is another
constexpr double kMoves = 0.2;      // standard errors by which a finer computation may move the top
constexpr double kFarShift = 1.5;   // from here on the finer likelihood is another one
constexpr double kTolerable = 0.5;  // standard errors of a shift that is left
constexpr double kRough = 1.5;      // log units between levels that make the search go on with finer steps
constexpr std::size_t kMostStarts = 4;
constexpr double kLoudest = 1.3;     // standard deviation of a log-likelihood whose bias may be neglected
constexpr double kMostShare = 0.25;  // Monte Carlo error over standard error that a table may have

class Search {
 public:
  Search(Evaluations& evaluate, std::span<const Parameter> parameters, const SearchOptions& options)
      : evaluate_(evaluate), parameters_(parameters), box_(parameters), options_(options) {
    for (const Parameter& p : parameters) start_.push_back(p.start);
    rounds_options_.tolerance = options.tolerance;
    rounds_options_.most_cost = options.most_cost / 3;
    rounds_options_.fixed_particles = options.particles > 0;
    if (options.law_particles > 0 || options.pairwise || !options.law) rounds_options_.law_ratio = 0;
  }

  Found run() {
    try {
      find();
    } catch (const Stopped&) {
      if (!best_) throw;
      out_.stopped = true;
      converged_ = false;
    } catch (const OutOfTime&) {
      if (!best_) throw NumericalError("the time granted was used up before any likelihood was known; grant more");
      out_.warnings.emplace_back("the time granted was used up before the search had come to rest");
      converged_ = false;
    }
    return assemble();
  }

 private:
  struct Candidate {
    Explored explored;
    double loglik = 0, error = 0;
  };

  Effort effort(std::size_t particles, int level) const {
    const std::size_t law = options_.law_particles > 0 ? options_.law_particles
                            : options_.pairwise        ? kPairwiseLaw
                                                       : 2 * particles;
    return {level, particles, law, 1};
  }
  Effort settling(int level) const { return effort(options_.particles > 0 ? options_.particles : kSettling, level); }

  void find() {
    explore_starts();
    choose_level();
    rounds_ = rounds_at("search", candidates_[0].explored);
    const bool settled = rounds_->settle();
    remember(*rounds_);
    look_elsewhere();
    converged_ = rounds_->refine();
    remember(*rounds_);
    if (!rounds_->fit()) {
      out_.warnings.emplace_back(
          settled ? "not converged: near the best point the likelihood has no maximum that stands out from its noise"
                  : "not converged: the search had not come to rest");
      converged_ = false;
      return;
    }
    finer_steps();
    larger_law();
    judge_error();
    if (converged_)
      find_ends();
    else if (out_.warnings.empty())
      out_.warnings.emplace_back("not converged: the search had not come to rest at a maximum");
  }

  std::unique_ptr<Rounds> rounds_at(const std::string& name, const Explored& from) {
    rounds_options_.name = name;
    return std::make_unique<Rounds>(evaluate_, box_, rounds_options_,
                                    Region::of(from.mean, from.covariance, box_.size()), settling(level_));
  }

  // The model's own start, and others around it.
  VectorXd start(std::size_t k) const {
    VectorXd z = box_.from(start_);
    if (k == 0) return z;
    const Stream stream(seed_of(evaluate_.seed(), "starts"), static_cast<std::uint32_t>(k), 0, Purpose::data);
    for (Index i = 0; i < z.size(); ++i) {
      const double a = 2 * uniform(stream, 0, static_cast<std::uint32_t>(i)) - 1;
      if (std::isfinite(box_.lower[i]) && std::isfinite(box_.upper[i]))
        z[i] = box_.lower[i] + (box_.upper[i] - box_.lower[i]) * (1 + 0.9 * a) / 2;
      else
        z[i] = z[i] == 0 ? 2 * a : z[i] * std::exp(1.1 * a);
    }
    return box_.inside(z);
  }

  void explore_from(std::size_t k) {
    const ExploreOptions options{.name = fmt::format("start {}", k + 1),
                                 .start = start(k),
                                 .effort = effort(kExploring, options_.levels.first),
                                 .highest_level = options_.levels.second,
                                 .most_generations = 25 + 10 * static_cast<int>(box_.size())};
    evaluate_.say(fmt::format("{}: {}", options.name, text(box_.theta(options.start))));
    Explored explored = explore(evaluate_, box_, options);
    if (!explored.found) {
      problem_ = explored.problem;
      return;
    }
    evaluate_.say(fmt::format("{} led to {}, log-likelihood {:.6g} at level {}", options.name,
                              text(box_.theta(explored.mean)), explored.loglik, explored.effort.level));
    if (!best_ || explored.loglik > best_->loglik) best_ = LocalMaximum{box_.theta(explored.mean), explored.loglik};
    level_ = std::max(level_, explored.effort.level);
    candidates_.push_back({std::move(explored), 0, 0});
  }

  // As many as wanted; more where those that there are do not agree, or none has led anywhere.
  void explore_starts() {
    level_ = options_.levels.first;
    std::size_t tried = 0;
    const auto disagree = [&] {
      return candidates_.size() < 2 || candidates_[0].loglik - candidates_[1].loglik > kComparable;
    };
    while (tried < options_.starts || (options_.starts > 1 && tried < kMostStarts && disagree())) {
      explore_from(tried++);
      compare(tried);
    }
    if (candidates_.empty())
      throw NumericalError(fmt::format("no likelihood near any of {} starts: {}", tried, problem_));
  }

  void compare(std::size_t tried) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& c = candidates_[i];
      const Moments m = moments(evaluate_(fmt::format("comparison {} {}", tried, i),
                                          {box_.theta(c.explored.mean), effort(kComparing, level_)}, 6));
      c.loglik = m.found > 0 ? m.mean : -std::numeric_limits<double>::infinity();
      c.error = std::sqrt(m.variance / 6);
    }
    std::ranges::stable_sort(candidates_, std::greater(), &Candidate::loglik);
  }

  // Finer steps as long as they change the likelihood of the best point much; then it is sought again there.
  void choose_level() {
    Explored& best = candidates_[0].explored;
    const int before = level_;
    const auto at = [&](int level) {
      return moments(
          evaluate_(fmt::format("steps level {}", level), {box_.theta(best.mean), effort(kComparing, level)}, 6));
    };
    Moments coarse = at(level_);
    while (level_ < options_.levels.second) {
      const Moments fine = at(level_ + 1);
      if (fine.found < 2) break;
      const double error = std::sqrt((coarse.variance + fine.variance) / 6);
      if (coarse.found > 1 && std::abs(fine.mean - coarse.mean) < kRough + 3 * error) break;
      ++level_;
      coarse = fine;
    }
    if (level_ == before) return;
    evaluate_.say(fmt::format("level {} in place of {}: the likelihood still changes", level_, before));
    ExploreOptions again{.name = fmt::format("level {}", level_),
                         .start = best.mean,
                         .width = 3,
                         .shape = best.covariance,
                         .effort = effort(kExploring, level_),
                         .highest_level = options_.levels.second,
                         .most_generations = 15 + 5 * static_cast<int>(box_.size())};
    const Explored found = explore(evaluate_, box_, again);
    if (found.found) best = found;
    if (found.found) best_ = LocalMaximum{box_.theta(found.mean), found.loglik};
  }

  // Other starts that ended elsewhere with a comparable likelihood: their own maxima, and the best of all is refined.
  void look_elsewhere() {
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      const Candidate& c = candidates_[i];
      const VectorXd away = rounds_->region().from(c.explored.mean);
      if (c.loglik < candidates_[0].loglik - 2 * kComparable - 3 * c.error || away.norm() < kElsewhere) continue;
      auto other = rounds_at(fmt::format("elsewhere {}", i), c.explored);
      if (!other->settle()) continue;
      if (rounds_->region().from(other->region().centre).norm() < kElsewhere) continue;
      const auto height = [&](const Rounds& r, const std::string& name) {
        return moments(evaluate_(name, {box_.theta(r.region().centre), effort(kComparing, level_)}, 12)).mean;
      };
      const double mine = height(*rounds_, fmt::format("height {}", i)),
                   its = height(*other, fmt::format("height elsewhere {}", i));
      evaluate_.say(fmt::format("another maximum: {:.6g} against {:.6g}", its, mine));
      if (its > mine) std::swap(rounds_, other);
      const bool known = std::ranges::any_of(
          others_, [&](const LocalMaximum& m) { return other->region().from(box_.from(m.theta)).norm() < kElsewhere; });
      if (std::abs(its - mine) < kComparable && !known)
        others_.push_back({box_.theta(other->region().centre), std::min(its, mine)});
      remember(*rounds_);
    }
  }

  void remember(const Rounds& r) {
    if (r.fit())
      best_ = LocalMaximum{box_.theta(r.fit()->top.z), r.fit()->top.value};
    else
      best_ = LocalMaximum{box_.theta(r.region().centre), best_ ? best_->loglik : 0};
  }

  // The parameter that a shift moves most, in standard errors, with the error of that.
  struct Worst {
    double shift = 0, error = 0;
    Index parameter = 0;
    bool matters() const { return shift > kMoves && shift > 2 * error; }
  };
  Worst worst(const Shift& s) const {
    Worst out;
    const Fit& fit = *rounds_->fit();
    for (Index i = 0; i < box_.size(); ++i) {
      const double se = std::sqrt(fit.covariance(i, i));
      if (!(se > 0) || std::abs(s.z[i]) / se <= out.shift) continue;
      out = {std::abs(s.z[i]) / se, std::sqrt(s.error(i, i)) / se, i};
    }
    return out;
  }

  const std::string& name(Index i) const { return parameters_[static_cast<std::size_t>(i)].name; }

  // Goes on with a finer effort for as long as that moves the top; says by how much it still does.
  template <class Next>
  void go_finer(const char* what, const char* advice, Next&& next) {
    for (std::optional<Effort> finer = next(rounds_->effort()); finer; finer = next(rounds_->effort())) {
      const auto s = rounds_->shift(*finer);
      const Worst w = s ? worst(*s) : Worst{};
      evaluate_.say(fmt::format("{}: level {}, {} law particles move '{}' by {:.2f} ± {:.2f} standard errors", what,
                                finer->level, finer->law_particles, name(w.parameter), w.shift, w.error));
      if (!s) {
        out_.warnings.push_back(
            fmt::format("{} could not be checked: the likelihood of the next finer ones is another", what));
        converged_ = false;
        return;
      }
      if (!w.matters()) return;
      const bool last = !next(*finer) || evaluate_.cost() + rounds_->cost_of(100, *finer) > options_.most_cost;
      if (last) {
        out_.warnings.push_back(
            fmt::format("{} still matter: the next finer ones move '{}' by {:.2f} ± {:.2f} standard errors; {}", what,
                        name(w.parameter), w.shift, w.error, advice));
        converged_ = converged_ && w.shift < kTolerable;
        return;
      }
      rounds_->adopt(*s);
      bool ok = true;
      if (w.shift > kFarShift) {
        rounds_->begin_again();
        ok = rounds_->settle();
      }
      converged_ = rounds_->refine() && ok;
      if (!rounds_->fit()) return;
      remember(*rounds_);
    }
  }

  void finer_steps() {
    go_finer("Euler's steps", "raise --levels", [&](const Effort& e) -> std::optional<Effort> {
      if (e.level >= options_.levels.second) return {};
      Effort finer = e;
      ++finer.level;
      return finer;
    });
  }

  void larger_law() {
    if (!options_.law || options_.law_particles > 0) return;
    const std::size_t most = options_.pairwise ? 1024 : rounds_options_.most_law_particles;
    go_finer("particles of the law", "raise --law-particles", [&](const Effort& e) -> std::optional<Effort> {
      if (2 * e.law_particles > most) return {};
      Effort finer = e;
      finer.law_particles *= 2;
      return finer;
    });
  }

  void judge_error() {
    if (rounds_->noise() > kLoudest) {
      out_.warnings.push_back(fmt::format(
          "filters of {} particles are too few: their log-likelihood has a standard deviation of {:.2g}, which "
          "moves its maximum; take more --particles",
          rounds_->effort().particles, rounds_->noise()));
      converged_ = false;
    }
    const double share = rounds_->largest_share();
    if (options_.tolerance || converged_ || share <= 1.05 * rounds_options_.share) return;
    out_.warnings.push_back(
        fmt::format("the Monte Carlo error is {:.2f} standard errors, not {}: the filters' log-likelihood has a "
                    "standard deviation of {:.2g} "
                    "with {} particles; a --tolerance or more --particles go on",
                    share, rounds_options_.share, rounds_->noise(), rounds_->effort().particles));
    converged_ = share <= kMostShare;
  }

  void find_ends() {
    const auto guesses = guessed_ends(*rounds_->fit(), box_, rounds_->flat());
    ends_ = search::find_ends(evaluate_, box_, *rounds_, guesses);
  }

  Found assemble() {
    Found out = std::move(out_);
    out.theta = best_->theta;
    out.loglik = best_->loglik;
    out.effort = rounds_ ? rounds_->effort() : effort(kExploring, level_);
    out.mc_se.assign(out.theta.size(), std::nan(""));
    out.intervals.resize(out.theta.size());
    out.covariance = MatrixXd::Zero(box_.size(), box_.size());
    if (rounds_ && rounds_->fit()) describe(*rounds_->fit(), out);
    out.inside = rounds_ && rounds_->fit() ? box_.theta(rounds_->fit()->top.z) : out.theta;
    out.maxima.push_back({out.theta, out.loglik});
    for (const LocalMaximum& m : others_) out.maxima.push_back(m);
    if (!others_.empty())
      out.warnings.push_back(fmt::format("{} maxima of comparable likelihood: another is at {}, log-likelihood {:.6g}",
                                         others_.size() + 1, text(others_[0].theta), others_[0].loglik));
    out.converged = converged_;
    return out;
  }

  void describe(const Fit& fit, Found& out) {
    out.theta = box_.theta(fit.top.z);
    for (const Sample& x : rounds_->last())
      if (x.group == 0) out.samples.push_back({box_.theta(x.z), x.value, fit.f.value(fit.region.from(x.z))});
    out.loglik = fit.top.value + rounds_->noise() * rounds_->noise() / 2;  // E log p̂ ≈ log p − variance/2
    out.loglik_error = fit.f.value_error(fit.top.u);
    out.covariance = box_.scale.asDiagonal() * fit.covariance * box_.scale.asDiagonal();
    for (Index i = 0; i < box_.size(); ++i)
      out.mc_se[static_cast<std::size_t>(i)] = box_.scale[i] * std::sqrt(fit.error(i, i));
    const auto guesses = guessed_ends(fit, box_, rounds_->flat());
    if (ends_.size() != guesses.size())  // they were not sought
      for (const End& e : guesses) ends_.push_back(e.trusted ? std::optional(e.guess) : std::nullopt);
    out.intervals = intervals(fit, box_, guesses, ends_);
    for (std::size_t i = 0; i < out.intervals.size(); ++i) {
      const Interval& s = out.intervals[i];
      if (s.at_bound == AtBound::lower) out.theta[i] = parameters_[i].lower;
      if (s.at_bound == AtBound::upper) out.theta[i] = parameters_[i].upper;
      if (!s.std_error) out.mc_se[i] = std::nan("");
      const bool bounded = s.at_bound != AtBound::none;
      const auto end = s.at_bound == AtBound::lower ? s.upper : s.lower;
      if (!bounded && (s.lower.has_value() != s.upper.has_value() || (!s.lower && rounds_->flat().empty())))
        out.warnings.push_back(undetermined_text(parameters_[i].name, s));
      if (bounded)
        out.warnings.push_back(fmt::format("{}: at its bound {:.6g}{}", parameters_[i].name, out.theta[i],
                                           end ? fmt::format(", {} {:.4g} with 95 % confidence",
                                                             s.at_bound == AtBound::lower ? "below" : "above", *end)
                                               : ""));
    }
    for (const VectorXd& direction : rounds_->flat())
      out.warnings.push_back(
          fmt::format("not determined: the likelihood does not change along {}; what that moves has no standard error",
                      combination(direction)));
  }

  std::string text(const std::vector<double>& theta) const {
    std::string out;
    for (std::size_t i = 0; i < theta.size(); ++i)
      out += fmt::format("{}{} = {:.6g}", i ? ", " : "", parameters_[i].name, theta[i]);
    return out;
  }

  std::string combination(const VectorXd& direction) const {
    std::string out;
    for (Index i = 0; i < direction.size(); ++i) {
      const double c = direction[i] * box_.scale[i];
      if (std::abs(c) < 0.05 * direction.cwiseProduct(box_.scale).cwiseAbs().maxCoeff()) continue;
      out +=
          fmt::format("{}{:.2g} {}", out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + "), std::abs(c), name(i));
    }
    return out;
  }

  Evaluations& evaluate_;
  std::span<const Parameter> parameters_;
  Box box_;
  SearchOptions options_;
  RoundsOptions rounds_options_;
  std::vector<double> start_;
  std::vector<Candidate> candidates_;  // the best first
  int level_ = 0;
  std::string problem_;
  std::unique_ptr<Rounds> rounds_;
  std::vector<LocalMaximum> others_;
  std::vector<std::optional<double>> ends_;  // distances, in the order of their guesses
  std::optional<LocalMaximum> best_;
  bool converged_ = false;
  Found out_;
};
}  // namespace

Found search(Evaluations& evaluate, std::span<const Parameter> parameters, const SearchOptions& options) {
  return Search(evaluate, parameters, options).run();
}
}  // namespace mckean::search
