#include "report/reproduce_study.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "infer/maximise.hpp"
#include "report/reproduce_cost.hpp"

namespace mckean {
namespace {

// Runs the tasks of a fit one after another, inside a task of the study: fits are what goes on side by side.
class InlineRunner : public TaskRunner {
 public:
  explicit InlineRunner(std::stop_token stop) : stop_(std::move(stop)) {}
  std::vector<std::vector<double>> run(std::span<const Task> tasks, const TaskFunction& function) override {
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (stop_.stop_requested()) throw Stopped{};
      out.push_back(function(i, stop_));
    }
    return out;
  }

 private:
  std::stop_token stop_;
};

enum class Kind { paper, single, stratified, exact };

struct Job {
  Kind kind;
  std::uint32_t index;   // replicate, repetition or level
  std::size_t size = 0;  // stratified: which number of replicates
  double cost = 1;
  std::string group() const {
    switch (kind) {
      case Kind::paper:
        return "paper";
      case Kind::single:
        return "single";
      case Kind::stratified:
        return fmt::format("stratified {}", size);
      case Kind::exact:
        return "exact";
    }
    return "";
  }
};

class Study {
 public:
  Study(const StudySettings& settings, const ParticleProblem& problem, std::uint64_t seed, TaskRunner& runner,
        FitObserver& observer)
      : settings_(settings),
        problem_(problem),
        seed_(seed),
        runner_(runner),
        options_(preconditioned(observer)),
        paper_(problem, options_),
        single_(problem, single_options()) {}

  StudyResult run(FitObserver& observer, const std::function<void(const std::string&)>& announce) {
    std::vector<Job> jobs = all_jobs();
    const double planned = predict(jobs, announce);
    observer.progress({settings_.name, 0, planned, {}, {}, {}});
    std::vector<StudySample> samples = compute(jobs);
    StudyResult out;
    out.stratified.resize(settings_.fit_replicates.size());
    std::vector<StudySample> exact;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      StudySample& found = samples[i];
      if (found.estimate.empty()) {
        ++failed;
        continue;
      }
      auto& to = jobs[i].kind == Kind::paper        ? out.paper
                 : jobs[i].kind == Kind::single     ? out.single
                 : jobs[i].kind == Kind::stratified ? out.stratified[jobs[i].size]
                                                    : exact;
      to.push_back(std::move(found));
    }
    out.exact = extrapolated(exact);
    for (const Finding& f : findings_) out.warnings.push_back(to_text(f));
    if (failed > 0) out.warnings.push_back(fmt::format("{} stratified fits had no answer and are left out", failed));
    return out;
  }

 private:
  EstimatorOptions preconditioned(FitObserver& observer) {
    EstimatorOptions o = settings_.estimator;
    o.seed = seed_of(seed_, "paper");
    o.chain.start = problem_.model().start_values();
    Workbench bench{problem_, runner_, observer, seed_};
    precondition(bench, o, findings_);
    return o;
  }

  // As many iterations as the longest chain of the paper's estimator: the two have the same mean.
  EstimatorOptions single_options() const {
    EstimatorOptions o = options_;
    o.kind = EstimatorOptions::Kind::single;
    o.seed = seed_of(seed_, "single");
    o.iterations =
        static_cast<std::size_t>(std::lround(o.chain_length.at({static_cast<double>(o.most_p.value_or(0))})));
    return o;
  }

  FitPlan stratified_plan(const Job& job) const {
    FitPlan o;
    o.estimator = Estimator::stratified;
    o.pilot.levels = {options_.lowest, options_.highest};
    o.pilot.chain = options_.chain;
    o.pilot.chain.precondition = {};
    o.pilot.chain.step = {};
    o.pilot.chain.smoother = smoother_for(problem_.model(), {});
    o.pilot.chain.derivative = Derivative::tangent;
    o.pilot.chain.antithetic_laws = true;
    o.replicates = static_cast<std::size_t>(settings_.fit_replicates[job.size]);
    o.seed = seed_of(seed_, fmt::format("stratified {} {}", job.size, job.index));
    return o;
  }

  std::vector<Job> all_jobs() const {
    std::vector<Job> jobs;
    for (std::uint32_t r = 0; r < settings_.pool() + settings_.reference; ++r)
      jobs.push_back({Kind::paper, r, 0, paper_.expected_cost(r)});
    for (std::uint32_t r = 0; r < settings_.single_repetitions * settings_.single_most; ++r)
      jobs.push_back({Kind::single, r, 0, 1e9});
    for (std::size_t n = 0; n < settings_.fit_replicates.size(); ++n)
      for (std::uint32_t r = 0; r < settings_.fits; ++r) jobs.push_back({Kind::stratified, r, n, 1e11});
    const int top = std::min(settings_.exact_level, options_.highest);
    for (int l = top < options_.highest ? top - 1 : top; l <= top; ++l)
      jobs.push_back({Kind::exact, static_cast<std::uint32_t>(l), 0, 1e12});
    return jobs;
  }

  StudySample compute(const Job& job, std::stop_token stop) const {
    if (job.kind == Kind::exact) {
      const auto engine = make_engine("quadrature", problem_.problem());
      const auto m = maximise(*engine, problem_.model().start_values(),
                              {.request = {.effort = {.level = static_cast<int>(job.index)}, .stop = std::move(stop)}});
      if (!m || !m->converged)
        throw NumericalError(
            fmt::format("the exact estimate at level {}: {}", job.index, m ? m->message : m.failure().message));
      return {static_cast<std::uint64_t>(m->work), static_cast<int>(job.index), 0, m->theta};
    }
    if (job.kind == Kind::stratified) {
      InlineRunner runner(stop);
      FitObserver nobody;
      try {
        const FitResult r = fit(problem_.problem(), stratified_plan(job), runner, nobody);
        return {r.particle_steps, r.highest, 0, r.value};
      } catch (const NumericalError&) {  // one of hundreds: it is left out, and counted
        return {};
      }
    }
    const Replicate r = (job.kind == Kind::paper ? paper_ : single_)(job.index, std::move(stop));
    return {r.particle_steps, r.level, r.p, r.estimate};
  }

  std::vector<StudySample> compute(std::span<const Job> jobs, std::vector<double>* seconds = nullptr) {
    std::vector<Task> tasks;
    for (const Job& job : jobs) tasks.push_back({job.group(), job.index, job.cost});
    return run_records(runner_, tasks, [&](std::size_t i, std::stop_token stop) {
      const double start = processor_seconds();
      StudySample out = compute(jobs[i], std::move(stop));
      if (seconds) (*seconds)[i] = processor_seconds() - start;
      return out;
    });
  }

  // What is alike in cost: a cell of the paper's estimator, known by the cost it expects, or one of the others.
  std::string sort_of(const Job& job) const {
    return job.group() + (job.kind == Kind::paper   ? fmt::format(" {}", job.cost)
                          : job.kind == Kind::exact ? fmt::format(" {}", job.index)
                                                    : "");
  }

  // The first two of each sort are computed, and the cost of all is known: in particle-steps, which the jobs are given
  // and whose sum is returned, and, from those that were computed here and now, in time.
  double predict(std::vector<Job>& jobs, const std::function<void(const std::string&)>& announce) {
    constexpr std::size_t kMeasured = 2;
    std::map<std::string, std::size_t> counts;
    std::vector<Job> first;
    for (const Job& job : jobs)
      if (++counts[sort_of(job)] <= kMeasured) first.push_back(job);
    std::vector<double> seconds(first.size(), 0);
    const std::vector<StudySample> samples = compute(first, &seconds);
    MeasuredCost cost;
    for (std::size_t i = 0; i < first.size(); ++i)  // steps of a grid are not those of particles
      cost.add(sort_of(first[i]), first[i].kind == Kind::exact ? 0 : static_cast<double>(samples[i].particle_steps),
               seconds[i]);
    double steps = 0, hours = 0;
    for (Job& job : jobs) {
      const std::string sort = sort_of(job);
      job.cost = cost.particle_steps(sort);
      steps += job.cost, hours += cost.seconds(sort) / 3600;
    }
    announce(fmt::format("{}: {} computations, {:.2g} particle-steps, {}; from the first {} of each of {} sorts",
                         settings_.name, jobs.size(), steps,
                         cost.timed() ? fmt::format("about {:.2g} core-hours", hours)
                                      : "part of them done: those are not computed again",
                         kMeasured, cost.sorts()));
    return steps;
  }

  // θ^l = θ^∞ + c Δ_l, from two levels.
  std::vector<double> extrapolated(const std::vector<StudySample>& exact) const {
    if (exact.size() == 1) return exact[0].estimate;
    const auto step = [](int level) { return std::ldexp(1.0, -level); };
    const double share =
        (step(exact[1].level) - step(options_.highest)) / (step(exact[0].level) - step(exact[1].level));
    std::vector<double> out = exact[1].estimate;
    for (std::size_t p = 0; p < out.size(); ++p) out[p] += share * (exact[1].estimate[p] - exact[0].estimate[p]);
    return out;
  }

  const StudySettings& settings_;
  const ParticleProblem& problem_;
  std::uint64_t seed_;
  TaskRunner& runner_;
  Findings findings_;
  EstimatorOptions options_;
  MultilevelEstimator paper_, single_;
};
}  // namespace

StudyResult run_study(const StudySettings& settings, const ParticleProblem& problem, std::uint64_t seed,
                      TaskRunner& runner, FitObserver& observer,
                      const std::function<void(const std::string&)>& announce) {
  return Study(settings, problem, seed, runner, observer).run(observer, announce);
}
}  // namespace mckean
