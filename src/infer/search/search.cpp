#include "infer/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/search/describe.hpp"
#include "infer/search/intervals.hpp"
#include "infer/search/rivals.hpp"
#include "infer/search/starts.hpp"
#include "mckean/error.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr std::size_t kLaw = 1024;      // N at least
constexpr std::size_t kSettling = 512;  // M
constexpr double kElsewhere = 4;        // standard errors from which on it is another
constexpr double kCoarse = 0.3;         // standard errors by which a level moves the top that is left early
constexpr std::size_t kAfterSettling = 400, kAfterRefining = 300,
                      kForIntervals = 150;         // samples that the rest of a search takes, by cost
constexpr double kRoughly = 0.2, kClosely = 0.08;  // standard errors to which a shift is measured
constexpr double kFarShift = 1.5;                  // from here on the finer likelihood is another one
constexpr double kTolerable = 0.5;                 // standard errors of a shift that is left
constexpr double kLoudest = 1.3;                   // standard deviation of a log-likelihood whose bias may be neglected
constexpr int kMostReturns = 3;
constexpr double kMostShare = 0.25;  // Monte Carlo error over standard error that a table may have

class Search {
 public:
  Search(Evaluations& evaluate, std::span<const Parameter> parameters, const SearchOptions& options)
      : evaluate_(evaluate),
        parameters_(parameters),
        box_(parameters),
        explored_in_(box_),
        options_(options),
        starts_(evaluate, explored_in_, parameters, options_) {
    options_.law = evaluate.engine().law_kind();
    rounds_options_.tolerance = options.tolerance;
    rounds_options_.most_cost = options.most_cost / 3;
    rounds_options_.fixed_particles = options.particles > 0;
    if (options.law_particles > 0 || options_.law != Engine::LawKind::moments) rounds_options_.law_ratio = 0;
  }

  Found run() {
    try {
      while (const auto from = starts_.next()) starts_.take(explore(evaluate_, box_, *from));
      starts_.choose();
      find();
    } catch (const Stopped&) {
      if (!best()) throw;
      out_.stopped = true;
      doubt({Finding::Code::stopped});
    } catch (const OutOfTime&) {
      if (!best()) throw NumericalError("the time granted was used up before any likelihood was known; grant more");
      doubt({Finding::Code::search_out_of_time});
    }
    evaluate_.tell("search", best()->theta, best()->loglik);
    out_.effort = rounds_ ? rounds_->effort() : starts_.effort(kExploring);
    out_.converged = reliable_;
    describe({parameters_, box_, rounds_.get(), *best(), others_, ends_}, out_);
    return std::move(out_);
  }

 private:
  // So far; at first that is what the population has.
  const std::optional<LocalMaximum>& best() const {
    return best_ ? best_ : starts_.best() ? starts_.best() : evaluate_.told();
  }

  // What is found is not to be relied on, for a reason that the user is told.
  void doubt(Finding why) {
    out_.findings.push_back(std::move(why));
    reliable_ = false;
  }

  void find() {
    rounds_ = rounds_at("search", starts_.candidates()[0].explored);
    bool settled = rounds_->settle();
    if (straighten()) settled = rounds_->settle();
    remember(*rounds_);
    look_elsewhere();
    leave_exploding_steps();
    leave_coarse_steps();
    refine();
    if (straighten()) {
      settled = rounds_->settle();
      refine();
    }
    if (!rounds_->fit()) {
      doubt({settled ? Finding::Code::no_maximum : Finding::Code::not_at_rest});
      return;
    }
    if (!settled_in_both()) {
      finer_steps();
      larger_law();
    }
    judge_error();
    look_mirrored();
    find_ends();
  }

  // Goes over to coordinates in which the likelihood is more of a parabola; false where it has them.
  bool straighten() {
    const auto better = rounds_->straighter();
    if (!better) return false;
    const Box before = box_;
    box_ = *better;
    rounds_->convert(before);
    for (Index i = 0; i < box_.size(); ++i)
      if (box_.bend[i] != before.bend[i])
        evaluate_.say(fmt::format("'{}' on a scale that is {}", name(i),
                                  std::isfinite(box_.bend[i]) ? "logarithmic far from its bound" : "its own"));
    return true;
  }

  void refine() {
    rested_ = rounds_->refine();
    if (leave_exploding_steps()) rested_ = rounds_->refine();
    remember(*rounds_);
  }

  // Whether there were any: steps with which particles explode near the top are too long, however well the others
  // agree.
  bool leave_exploding_steps() {
    bool any = false;
    for (; rounds_->exploding(); any = true) {
      const auto finer = next_level(rounds_->effort());
      if (!finer) {
        doubt({Finding::Code::steps_explode, {{"level", rounds_->effort().level}}});
        break;
      }
      evaluate_.say(fmt::format("particles explode near the top: level {}", finer->level));
      rounds_->restart(*finer);
      rounds_->settle();
    }
    return any;
  }

  std::unique_ptr<Rounds> rounds_at(const std::string& name, const Explored& from) {
    rounds_options_.name = name;
    Effort effort = starts_.effort(options_.particles > 0 ? options_.particles : kSettling);
    if (options_.law_particles == 0 && options_.law != Engine::LawKind::pairs)
      effort.law_particles = std::max(kLaw, effort.law_particles);
    return std::make_unique<Rounds>(evaluate_, box_, rounds_options_,
                                    Region::of(from.mean, from.covariance, box_.size()), effort);
  }

  // What an exploration found, in the coordinates of now.
  Explored as_now(Explored e) const {
    const VectorXd slopes = explored_in_.slopes(e.mean);
    e.mean = box_.from(explored_in_.theta(e.mean));
    const VectorXd share = slopes.cwiseQuotient(box_.slopes(e.mean));
    e.covariance = share.asDiagonal() * e.covariance * share.asDiagonal();
    return e;
  }

  // Other starts that ended elsewhere with a comparable likelihood: their own maxima, and the best of all is refined.
  void look_elsewhere() {
    const auto& candidates = starts_.candidates();
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      const Starts::Candidate& c = candidates[i];
      const Explored its_own = as_now(c.explored);
      const VectorXd away = rounds_->region().from(its_own.mean);
      if (c.loglik < candidates[0].loglik - 2 * kComparable - 3 * c.error || away.norm() < kElsewhere) continue;
      auto other = rounds_at(fmt::format("elsewhere {}", i), its_own);
      if (!other->settle()) continue;
      if (rounds_->region().from(other->region().centre).norm() < kElsewhere) continue;
      const auto height = [&](const Rounds& r, const std::string& name) {
        const Effort effort = starts_.effort(kComparing);
        return moments(evaluate_(name, {box_.theta(r.region().centre), effort}, 12)).mean;
      };
      const double mine = height(*rounds_, fmt::format("height {}", i)),
                   its = height(*other, fmt::format("height elsewhere {}", i));
      evaluate_.say(fmt::format("another maximum: {:.6g} against {:.6g}", its, mine));
      if (its > mine) std::swap(rounds_, other);
      if (std::abs(its - mine) < kComparable && !is_known(other->region().centre) &&
          valley_between(evaluate_, box_, rounds_->region().centre, other->region().centre, starts_.effort(kComparing),
                         std::min(its, mine), fmt::format("way elsewhere {}", i)))
        others_.push_back({box_.theta(other->region().centre), std::min(its, mine)});
      remember(*rounds_);
    }
  }

  bool is_known(const VectorXd& z) const {
    const Region& region = rounds_->region();
    return std::ranges::any_of(others_, [&](const LocalMaximum& m) {
      return (region.from(box_.from(m.theta)) - region.from(z)).norm() < kElsewhere;
    });
  }

  // What differs from the maximum by signs alone.
  void look_mirrored() {
    for (const LocalMaximum& m : mirrored(evaluate_, box_, *rounds_, kComparable))
      if (!is_known(box_.from(m.theta))) others_.push_back(m);
  }

  void remember(const Rounds& r) {
    if (r.fit()) best_ = LocalMaximum{box_.theta(r.fit()->top.z), r.fit()->top.value};
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

  // What is refined, and what is said where that still moves the top: by the next finer ones, or by the last.
  struct Refinement {
    const char* what;
    Finding::Code matters, moved;
  };

  // What a finer effort makes of the top; none where that could not be told.
  struct Change {
    std::optional<Shift> shift;
    Worst worst;
  };
  Change change_by(const char* what, const Effort& finer) {
    Change out{rounds_->shift(finer, kClosely), {}};
    const Worst w = out.worst = out.shift ? worst(*out.shift) : Worst{};
    evaluate_.say(fmt::format("{}: level {}, {} law particles move '{}' by {:.2f} ± {:.2f} standard errors", what,
                              finer.level, finer.law_particles, name(w.parameter), w.shift, w.error));
    return out;
  }

  // Goes on with a finer effort for as long as that moves the top; says by how much it still does.
  template <class Next>
  void go_finer(const Refinement& kind, Next&& next) {
    for (std::optional<Effort> finer = next(rounds_->effort()); finer; finer = next(rounds_->effort())) {
      const auto [s, w] = change_by(kind.what, *finer);
      if (reliable_ && leave_exploding_steps()) {
        refine();
        if (!rounds_->fit()) return doubt({Finding::Code::no_maximum});
        continue;
      }
      if (!s) return doubt({Finding::Code::refinement_unchecked, {{"what", kind.what}}});
      if (!w.matters()) return;
      const bool more = next(*finer).has_value(), limited = more && too_much(kAfterRefining, *finer);
      const bool taken = more && (!limited || (w.shift < kFarShift && !too_much(kForIntervals, *finer)));
      if (taken) {
        const bool ok = move_on(*s, w);
        refine();
        rested_ = rested_ && ok;
      }
      if (!taken || limited) return still_matter(kind, w, taken, limited);
    }
  }

  // Both errors are of first order: each refinement moves the top by half as much as the one before.
  void still_matter(const Refinement& kind, const Worst& w, bool taken, bool limited) {
    const double left = taken ? w.shift / 2 : w.shift;
    Finding f{taken ? kind.moved : kind.matters,
              {{"parameter", name(w.parameter)}, {"shift", w.shift}, {"error", w.error}, {"left", left}}};
    if (limited) f.data.emplace_back("limited", "work");
    out_.findings.push_back(std::move(f));
    reliable_ = reliable_ && left < kTolerable;
  }

  std::optional<Effort> next_level(const Effort& e) const {
    if (e.level >= options_.levels.second) return {};
    Effort finer = e;
    ++finer.level;
    return finer;
  }

  std::optional<Effort> next_law(const Effort& e) const {
    if (options_.law == Engine::LawKind::none || options_.law_particles > 0) return {};
    const std::size_t most = options_.law == Engine::LawKind::pairs ? 1024 : rounds_options_.most_law_particles;
    if (2 * e.law_particles > most) return {};
    Effort finer = e;
    finer.law_particles *= 2;
    return finer;
  }

  bool too_much(std::size_t samples, const Effort& e) const {
    return evaluate_.cost() + rounds_->cost_of(samples, e) > options_.most_cost;
  }

  // While samples are cheap: levels that move the top much are left before it is looked at closely.
  void leave_coarse_steps() {
    while (rounds_->look_roughly()) {
      const auto finer = next_level(rounds_->effort());
      const auto s = finer ? rounds_->shift(*finer, kRoughly) : std::nullopt;
      if (!s) return;
      const Worst w = worst(*s);
      evaluate_.say(fmt::format("level {} moves '{}' by {:.2f} ± {:.2f} standard errors", finer->level,
                                name(w.parameter), w.shift, w.error));
      if (w.shift < kCoarse || w.shift < 3 * w.error || !next_level(*finer) || too_much(kAfterSettling, *finer)) return;
      move_on(*s, w);
    }
  }

  // With the finer effort that was looked at last; false where it has no top.
  bool move_on(const Shift& s, const Worst& w) {
    rounds_->adopt(s);
    if (w.shift <= kFarShift) return true;
    rounds_->begin_again();
    return rounds_->settle();
  }

  // Whether more steps and a larger law together leave the top where it is, which takes half the samples that each by
  // itself takes.
  bool settled_in_both() {
    const auto finer = next_level(rounds_->effort()), both = finer ? next_law(*finer) : std::nullopt;
    if (!both) return false;
    const Change c = change_by("steps and particles of the law", *both);
    return c.shift && !c.worst.matters() && !rounds_->exploding();
  }

  void finer_steps() {
    go_finer({"steps", Finding::Code::steps_matter, Finding::Code::steps_moved},
             [&](const Effort& e) { return next_level(e); });
  }

  void larger_law() {
    go_finer({"particles of the law", Finding::Code::law_matters, Finding::Code::law_moved},
             [&](const Effort& e) { return next_law(e); });
  }

  void judge_error() {
    if (rounds_->noise() > kLoudest)
      doubt({Finding::Code::too_few_particles, {{"particles", rounds_->effort().particles}, {"sd", rounds_->noise()}}});
    if (!rounds_->at_top()) return doubt({Finding::Code::not_at_maximum});
    if (rested_) return;
    const double share = rounds_->largest_share();
    out_.findings.push_back(
        {Finding::Code::monte_carlo_error,
         {{"share", share},
          {"wanted", options_.tolerance ? "as small as asked for" : fmt::format("{}", rounds_options_.share)},
          {"sd", rounds_->noise()},
          {"particles", rounds_->effort().particles}}});
    if (options_.tolerance || share > kMostShare) reliable_ = false;
  }

  // Where an end turns out to be higher than the top, the search goes on from there.
  void find_ends() {
    for (int again = 1; reliable_; ++again) {
      const auto guesses = guessed_ends(*rounds_->fit(), box_, rounds_->flat());
      const Ends ends = search::find_ends(evaluate_, box_, *rounds_, guesses, fmt::format("ends {}", again));
      if (!ends.higher) {
        ends_ = ends.distances;
        return;
      }
      if (again == kMostReturns) return doubt({Finding::Code::higher_at_end});
      evaluate_.say(fmt::format("higher at {}: on from there", to_text(parameters_, box_.theta(*ends.higher))));
      rounds_->move_to(*ends.higher);
      if (rounds_->settle())
        refine();
      else
        rested_ = false;
      judge_error();
    }
  }

  Evaluations& evaluate_;
  std::span<const Parameter> parameters_;
  Box box_, explored_in_;
  SearchOptions options_;
  RoundsOptions rounds_options_;
  Starts starts_;
  std::unique_ptr<Rounds> rounds_;
  std::vector<LocalMaximum> others_;
  std::vector<std::optional<double>> ends_;  // distances, in the order of their guesses
  std::optional<LocalMaximum> best_;
  bool rested_ = false;  // the Monte Carlo error is as small as wanted
  bool reliable_ = true;
  Found out_;
};
}  // namespace

Found search(Evaluations& evaluate, std::span<const Parameter> parameters, const SearchOptions& options) {
  return Search(evaluate, parameters, options).run();
}
}  // namespace mckean::search
