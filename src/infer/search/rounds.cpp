#include "infer/search/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "infer/search/normal_draws.hpp"
#include "model/symmetric.hpp"
#include "noise/noise.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr int kMostBatches = 12;
constexpr std::size_t kFewest = 12, kMostAtOnce = 4;  // samples of a batch, and in units of a small one
constexpr double kExpected = 0.9;                     // error over what is wanted that a batch is planned for
constexpr std::size_t kNoiseDraws = 12, kMostTimes = 4;
constexpr double kQuiet = 0.35;                      // variance of a log-likelihood that samples should have
constexpr double kNarrower = 0.7, kNarrowest = 0.5;  // of the samples, where the polynomial does not fit
constexpr double kUnsteady = 0.3;                    // standard errors between tops of near and all samples
// Rounds end when their estimate of the Monte Carlo error is small, which is more likely where it is too small: over
// 800 seeds the errors of parabolas in one to three dimensions were 1.07 to 1.11 times what the regression says.
constexpr double kStopping = 1.1;
constexpr std::size_t kFewExplosions = 2;
constexpr double kMostExplosions = 0.03;  // share of points near the centre
// Log units between values there, where a parabola falls by a few, beside multiples of those within the best quarter.
constexpr double kAbsurd = 200, kOfSpread = 20;
}  // namespace

// Those that have a value.
std::vector<Rounds::Taken> Rounds::values_at(const std::string& what, std::span<const VectorXd> points,
                                             const Effort& effort) {
  std::vector<Point> requests;
  for (const VectorXd& z : points) requests.push_back({box_.theta(z), effort});
  const auto name = fmt::format("{} {} {} level {} particles {} law {}", options_.name, what, round_, effort.level,
                                effort.particles, effort.law_particles);
  const double before = evaluate_.cost();
  const auto values = evaluate_(name, requests);
  cost_ += evaluate_.cost() - before;
  sample_cost_ = (evaluate_.cost() - before) / static_cast<double>(points.size());
  sample_effort_ = effort;
  std::vector<Taken> out;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (values[i].loglik) out.push_back({points[i], *values[i].loglik, 0});
  count_explosions(points, values);
  return out;
}

// Among about half of a design. Where numbers grow without bounds for a while there is a value, an absurd one: far
// below the best quarter, by more than noise explains.
void Rounds::count_explosions(std::span<const VectorXd> points, std::span<const Value> values) {
  const double close = width_ * std::sqrt(static_cast<double>(region_.widths.size()));
  std::vector<double> central;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (region_.from(points[i]).norm() > close) continue;
    ++central_;
    if (values[i].too_coarse) ++exploded_;
    if (values[i].loglik) central.push_back(*values[i].loglik);
  }
  if (central.empty()) return;
  std::ranges::sort(central, std::greater());
  const double spread = central.front() - central[central.size() / 4];
  const double absurd = central.front() - kAbsurd - kOfSpread * spread;
  exploded_ += static_cast<std::size_t>(std::ranges::count_if(central, [&](double v) { return v < absurd; }));
}

bool Rounds::exploding() const {
  return exploded_ >= kFewExplosions &&
         static_cast<double>(exploded_) > kMostExplosions * static_cast<double>(central_);
}

// By the current effort, and kept.
std::vector<Rounds::Taken> Rounds::take(const std::string& what, std::span<const VectorXd> points) {
  auto out = values_at(what, points, effort());
  for (Taken& t : out) t.effort = efforts_.size() - 1;
  taken_.insert(taken_.end(), out.begin(), out.end());
  return out;
}

// Normal points in the region, in pairs opposite to each other; those beyond a bound mirrored at it.
std::vector<VectorXd> Rounds::design(std::size_t count, double width) {
  NormalDraws draws(seed_of(evaluate_.seed(), fmt::format("{} design {}", options_.name, ++round_)));
  std::vector<VectorXd> out;
  while (out.size() < count) {
    const VectorXd u = width * draws.next(region_.widths.size());
    out.push_back(box_.reflected(region_.at(u)));
    out.push_back(box_.reflected(region_.at(-u)));
  }
  return out;
}

// Samples that a polynomial needs at least.
std::size_t Rounds::few() const {
  return std::max<std::size_t>(48, Polynomial::terms(region_.widths.size(), 3) * 5 / 2);
}

// Chosen points, in such pairs too: at least so many, and more until the error is expected to be as wanted.
std::vector<VectorXd> Rounds::chosen(std::size_t least, std::size_t most) {
  NormalDraws draws(seed_of(evaluate_.seed(), fmt::format("{} design {}", options_.name, ++round_)));
  Design design(usable(), region_, 3);
  std::vector<VectorXd> out;
  while (out.size() < least || (out.size() < most && expected_error(design) > kExpected)) {
    const VectorXd u = design.next(draws, width_);
    out.push_back(box_.reflected(region_.at(u)));
    out.push_back(box_.reflected(region_.at(-u)));
  }
  return out;
}

// Over what is wanted.
double Rounds::expected_error(const Design& design) const {
  const MatrixXd to_z = fit_->covariance * region_.inverse().transpose();
  return kStopping * over_wanted(fit_->f.noise() * to_z * design.gradient_error() * to_z.transpose());
}

// The region around the top, as wide as the curvature there, also across a bound that holds the top; true where it was
// about right before.
bool Rounds::follow(const Fit& fit) {
  const Spectrum s = spectrum(-fit.f.hessian(fit.top.u));
  bool right = true;
  VectorXd factor(s.values.size());
  for (Index i = 0; i < factor.size(); ++i) {
    const bool known = s.values[i] > 2.5 * fit.f.curvature_error(s.vectors.col(i));
    factor[i] = known ? 1 / std::sqrt(std::clamp(s.values[i], 0.25, 4.0)) : 1;
    right = right && known && s.values[i] > 0.4 && s.values[i] < 2.5;
  }
  const MatrixXd root = region_.factor() * s.vectors * factor.asDiagonal();
  region_ = Region::of(box_.inside(fit.top.z), root * root.transpose(), region_.widths.size());
  return right;
}

// M such that samples are quiet, as far as the cost allows.
void Rounds::choose_particles() {
  const std::vector<VectorXd> at(kNoiseDraws, region_.centre);
  const auto measure = [&] {
    std::vector<Value> values;
    for (const Taken& t : take("noise", at)) values.push_back({t.value, {}, 0});
    return moments(values);
  };
  ++round_;
  Moments m = measure();
  Effort chosen = effort();
  if (!options_.fixed_particles && m.found > 1) {
    double factor = 1;
    while (m.variance / factor > kQuiet &&
           static_cast<double>(chosen.particles) < static_cast<double>(options_.most_particles) &&
           cost_of(200, chosen) < options_.most_cost / 2) {
      factor *= 2;
      chosen.particles *= 2;
    }
    if (factor > 1 && options_.law_ratio > 0)
      chosen.law_particles =
          std::min(options_.most_law_particles,
                   std::max(chosen.law_particles,
                            static_cast<std::size_t>(options_.law_ratio * static_cast<double>(chosen.particles))));
    if (factor > 1) {
      efforts_.push_back(chosen);
      m = measure();
    }
  }
  noise_ = std::sqrt(m.variance);
  width_ = narrowing_ * std::clamp(3 * noise_, 1.0, 1.5);
}

// Those in the region that are not far below the best of them: elsewhere the likelihood is no polynomial.
std::vector<Sample> Rounds::trusted(std::span<const Taken> some, std::size_t group) const {
  std::vector<Taken> inside;
  std::vector<double> values;
  for (const Taken& t : some)
    if (region_.from(t.z).norm() <= kTrusted * width_) inside.push_back(t), values.push_back(t.value);
  std::vector<Sample> out;
  if (inside.empty()) return out;
  const double least = height(std::move(values)) - 2 * depth();
  for (const Taken& t : inside)
    if (t.value >= least) out.push_back({t.z, t.value, 1, group});
  return out;
}

// Samples of all efforts with as many particles, the current one as the first group.
std::vector<Sample> Rounds::usable() const {
  std::vector<Sample> out;
  std::size_t groups = 0;
  for (std::size_t e = efforts_.size(); e-- > 0;) {
    if (efforts_[e].particles != effort().particles) continue;
    std::vector<Taken> own;
    std::ranges::copy_if(taken_, std::back_inserter(own), [&](const Taken& t) { return t.effort == e; });
    const auto some = trusted(own, groups);
    if (!some.empty()) ++groups;
    out.insert(out.end(), some.begin(), some.end());
    if (groups == 0) return out;  // nothing of the current effort
  }
  return out;
}

// Cubic where there are samples enough.
std::optional<Polynomial> Rounds::polynomial(std::span<const Sample> samples, const Region& region) {
  const bool many = samples.size() >= 2 * Polynomial::terms(region.widths.size(), 3);
  return Polynomial::through(samples, region, many ? 3 : 2);
}

// Whether the polynomial is known to fall to all sides of the top.
bool Rounds::curved(const Polynomial& f, const Top& top) {
  const Spectrum s = spectrum(-f.hessian(top.u));
  for (Index i = 0; i < s.values.size(); ++i)
    if (s.values[i] < f.curvature_error(s.vectors.col(i))) return false;
  return true;
}

// The polynomial through all that is known, and its top; false where there is none in the region. Of samples on one
// side of a bound a quadratic tells more than a cubic.
bool Rounds::look() {
  at_top_ = false;
  const auto samples = usable();
  auto f = polynomial(samples, region_);
  if (!f) return false;
  Top top = top_of(*f, region_, box_, {.most = 2 * width_});
  if (std::ranges::any_of(top.bound, [](int at) { return at != 0; })) {
    f = Polynomial::through(samples, region_, 2);
    top = top_of(*f, region_, box_, {.most = 2 * width_});
  }
  const auto covariance = covariance_at(*f, region_, top);
  if (!covariance || !top.interior || !curved(*f, top)) return false;
  // A top above all samples is one that the polynomial made up.
  const double highest = std::ranges::max_element(samples, {}, &Sample::value)->value;
  if (top.value > highest + 3 * std::sqrt(f->noise()) + 1) return false;
  MatrixXd error = kStopping * kStopping * error_of(*f, region_, top, *covariance);
  fit_ = Fit{*f, region_, std::move(top), *covariance, std::move(error)};
  evaluate_.tell(options_.name, box_.theta(fit_->top.z), fit_->top.value);
  return at_top_ = true;
}

bool Rounds::look_roughly() {
  const auto samples = usable();
  const auto own = static_cast<std::size_t>(std::ranges::count(samples, std::size_t{0}, &Sample::group));
  if (own < few()) take("rough", design(few() - own, width_));
  return look();
}

double Rounds::wanted(Index i) const {
  if (options_.tolerance) return *options_.tolerance / box_.slope(i, fit_->top.z[i]);
  return kStopping * options_.share * std::sqrt(fit_->covariance(i, i));
}

double Rounds::over_wanted(const MatrixXd& error) const {
  double worst = 0;
  for (Index i = 0; i < box_.size(); ++i)
    if (fit_->covariance(i, i) > 0) worst = std::max(worst, std::sqrt(error(i, i)) / wanted(i));
  return worst;
}

double Rounds::largest_share() const {
  double worst = 0;
  for (Index i = 0; fit_ && i < box_.size(); ++i)
    if (fit_->covariance(i, i) > 0) worst = std::max(worst, std::sqrt(fit_->error(i, i) / fit_->covariance(i, i)));
  return worst;
}

// Whether the nearer half of the samples has its top in the same place: a polynomial that does not fit moves it.
bool Rounds::steady() {
  const Region& region = fit_->region;
  std::vector<Sample> samples = usable();
  std::ranges::sort(samples, {}, [&](const Sample& s) { return region.from(s.z).norm(); });
  samples.resize(samples.size() / 2);
  const auto f = polynomial(samples, region);
  if (!f) return true;
  const Top top = top_of(*f, region, box_, {.most = 2 * width_, .from = fit_->top.u});
  if (!top.interior || top.bound != fit_->top.bound) return true;
  const MatrixXd error = error_of(*f, region, top, fit_->covariance) - fit_->error;
  for (Index i = 0; i < box_.size(); ++i) {
    const double se = std::sqrt(fit_->covariance(i, i)), by_chance = std::sqrt(std::max(0.0, error(i, i)));
    if (std::abs(top.z[i] - fit_->top.z[i]) > std::max(kUnsteady * se, 3 * by_chance)) return false;
  }
  return true;
}

bool Rounds::refine() {
  cost_ = 0;
  if (!quiet_) choose_particles();
  std::size_t least = quiet_ ? 0 : few(), most = least;  // what was taken already may serve
  quiet_ = true;
  int lost = 0;
  for (int batch = 0; batch < kMostBatches; ++batch) {
    if (most > 0) take("sample", chosen(least, most));
    if (!look()) {
      if (most > 0 && (++lost > 2 || !settle())) return false;
      least = most = few();
      continue;
    }
    const bool right = follow(*fit_);
    if (over_wanted(fit_->error) <= 1 && (right || batch > 2)) {
      if (steady_ || steady()) return steady_ = true;
      if (narrowing_ < kNarrowest) return false;
      narrowing_ *= kNarrower, width_ *= kNarrower;
    }
    if (!options_.tolerance && cost_ > options_.most_cost) return false;
    // Many samples are for a region that is right.
    const bool many = right || batch >= kMostBatches / 2;
    least = many ? std::max(kFewest, taken_.size() / 8) : few();  // at bounds they tell less than is expected
    most = many ? kMostAtOnce * few() : few();
  }
  return false;
}

std::optional<Shift> Rounds::shift(const Effort& finer, double error) {
  const double n = std::pow(std::max(noise_, 0.05) / (error * width_), 2);
  const auto count = static_cast<std::size_t>(std::clamp(n, 3.0 * static_cast<double>(box_.size() + 1) + 6, 400.0));
  tried_ = finer;
  tried_samples_.clear();
  std::optional<Shift> out;
  for (std::size_t tried = count;; tried += count) {
    const auto more = values_at("finer", design(count, width_), finer);
    tried_samples_.insert(tried_samples_.end(), more.begin(), more.end());
    out = tried_shift(tried);
    const bool cheap = cost_of(tried + count, finer) < options_.most_cost / 4;
    if (!out || !uncertain(*out, 1.5 * error) || !cheap || tried >= kMostTimes * count) return out;
  }
}

// Whether it is neither small nor large beyond its error, and that is more than what is bearable.
bool Rounds::uncertain(const Shift& s, double bearable) const {
  for (Index i = 0; i < box_.size(); ++i) {
    const double se = std::sqrt(fit_->covariance(i, i));
    if (!(se > 0)) continue;
    const double by = std::abs(s.z[i]) / se, error = std::sqrt(s.error(i, i)) / se;
    if (error > bearable && by + error > kMoves && by < kMoves + 2 * error) return true;
  }
  return false;
}

// From the samples that there are of the `count` that were tried; none where the likelihood is another one.
std::optional<Shift> Rounds::tried_shift(std::size_t count) const {
  std::vector<Sample> samples = usable();
  std::size_t group = 1;
  for (const Sample& s : samples) group = std::max(group, s.group + 1);
  const auto some = trusted(tried_samples_, group);
  if (2 * some.size() < count) return {};
  samples.insert(samples.end(), some.begin(), some.end());
  const auto f = polynomial(samples, region_);
  if (!f) return {};
  const MatrixXd to_z = fit_->covariance * region_.inverse().transpose();
  return Shift{to_z * f->offset_gradient(group), to_z * f->offset_error(group) * to_z.transpose()};
}

void Rounds::adopt(const Shift& by) {
  efforts_.push_back(tried_);
  for (Taken& t : tried_samples_) t.effort = efforts_.size() - 1;
  taken_.insert(taken_.end(), tried_samples_.begin(), tried_samples_.end());
  region_.centre = box_.inside(fit_->top.z + by.z);
  central_ = exploded_ = 0;
}

// Proportional to M and N, and to the number of steps.
double Rounds::cost_of(std::size_t samples, const Effort& e) const {
  const double particles = static_cast<double>(e.particles) / static_cast<double>(sample_effort_.particles);
  return static_cast<double>(samples) * sample_cost_ * particles * std::exp2(e.level - sample_effort_.level) *
         evaluate_.step_cost(e) / evaluate_.step_cost(sample_effort_);
}

void Rounds::move_to(const VectorXd& z) {
  region_.centre = box_.inside(z);
  fit_.reset();
  at_top_ = steady_ = quiet_ = false;
}

void Rounds::restart(const Effort& effort) {
  efforts_ = {effort};
  taken_.clear();
  fit_.reset();
  at_top_ = steady_ = quiet_ = false;
  central_ = exploded_ = 0;
}

void Rounds::begin_again() {
  std::erase_if(taken_, [&](const Taken& t) { return t.effort + 1 != efforts_.size(); });
  for (Taken& t : taken_) t.effort = 0;
  efforts_ = {effort()};
  quiet_ = false;
}
}  // namespace mckean::search
