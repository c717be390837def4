#include "engine/quadrature/laws.hpp"

#include <cmath>

#include "law/law.hpp"

namespace mckean {
namespace {

// A density may be undefined where it has no more than this share of its peak, in units of the mass that may get lost.
constexpr double kNegligible = 1e-3;
constexpr char kWhose[] = "densities of the law";

bool finite(const Columns& columns, std::size_t i) {
  for (std::size_t c = 0; c < columns.count(); ++c)
    if (!std::isfinite(columns[c][i])) return false;
  return true;
}
}  // namespace

Laws::Laws(const Formulas& formulas, const Grid& grid, Accuracy accuracy, std::span<const double> theta)
    : formulas_(formulas),
      grid_(grid),
      theta_(theta),
      densities_(formulas.kinds.size()),
      within_(formulas.kinds.size()),
      moments_(formulas.kinds[0].stages.size(),
               std::vector<double>(formulas.blocks.moments.size() * jet_size(formulas.dynamic))) {
  for (std::size_t kind = 0; kind < formulas.kinds.size(); ++kind) {
    transports_.emplace_back(formulas, kind, accuracy, grid_steps_);
    readers_.emplace_back(formulas, kind, theta);
    moving_.emplace_back();
    if (formulas.kinds[kind].read) moving_.back() = transports_.back().origin(formulas.dynamic);
  }
}

// Stage by stage: the points of a stage are made of the slopes before it.
void Laws::measure() {
  for (FieldReader& r : readers_) r.begin(grid_.step[now_]);
  if (!flows()) return;
  for (std::size_t kind = 0; kind < moving_.size(); ++kind)
    if (moving_[kind]) within_[kind] = enter(kind, moving_[kind]->density);
  for (std::size_t stage = 0; stage < moments_.size(); ++stage) {
    for (std::size_t kind = 0; kind < moving_.size(); ++kind)
      if (moving_[kind]) readers_[kind].measure(*densities_[kind], within_[kind], moments_[stage]);
    for (std::size_t kind = 0; kind < moving_.size() && stage + 1 < moments_.size(); ++kind)
      if (moving_[kind]) advance(kind, moving_[kind]->density, within_[kind], kWhose);
  }
}

void Laws::arrive(std::size_t k) {
  now_ = k;
  const Arrival arrival{next_variance(), goes_on(), {}};
  const std::vector<std::optional<MovingDensity>> from =
      std::exchange(moving_, std::vector<std::optional<MovingDensity>>(moving_.size()));
  std::vector<std::optional<Transport::Move>> moves(from.size());
  for (std::size_t kind = 0; kind < from.size(); ++kind)
    if (from[kind]) moves[kind].emplace(transports_[kind], *from[kind], arrival);
  // Fields need the averages over all, so all arrive before any goes on; where one has to be spread again, all read
  // it anew.
  std::vector<bool> settled(from.size(), false);
  for (bool all = false; !all;) {
    for (std::size_t kind = 0; kind < from.size(); ++kind)
      if (moves[kind] && !settled[kind]) {
        moving_[kind] = moves[kind]->spread();
        densities_[kind] = &moving_[kind]->density;
      }
    if (!goes_on()) return;
    measure();
    all = true;
    for (std::size_t kind = 0; kind < from.size(); ++kind) {
      if (!moves[kind]) continue;
      moving_[kind]->fields = finish(kind, moving_[kind]->density, within_[kind], kWhose);
      settled[kind] = moves[kind]->settles(*moving_[kind]);
      all = all && settled[kind];
    }
  }
}

double Laws::lattice(std::size_t kind) const {
  if (formulas_.kinds[kind].scale) return 0;
  for (const PairFormulas& p : formulas_.kinds[kind].pairs)
    if (p.difference && !formulas_.kinds[p.over].scale && densities_[p.over]->points > 1)
      return densities_[p.over]->step;
  return 0;
}

Within Laws::enter(std::size_t kind, const GridDensity& density) {
  const double pairs = readers_[kind].pairs(density, densities_);
  if (pairs > transports_[kind].accuracy().work) throw GridTooLarge();
  pairs_ += pairs;
  return readers_[kind].enter(density, densities_);
}

// Points of no weight at which the motion is not defined go where the peak goes, without any.
template <class Defined, class Mend>
void Laws::mend(GridDensity& density, const char* whose, Defined&& defined, Mend&& mend_at) const {
  const std::size_t peak = density.peak();
  const double negligible = kNegligible * transports_[0].accuracy().may_cross() * density.mass[0][peak];
  for (std::size_t i = 0; i < density.points; ++i) {
    if (defined(i)) continue;
    if (!(density.mass[0][i] <= negligible) || !defined(peak))
      report_overflow(formulas_.blocks.model, theta_, grid_.level, grid_.time[now_], whose);
    for (std::size_t c = 0; c < density.mass.count(); ++c) density.mass[c][i] = 0;
    mend_at(i, peak);
  }
}

void Laws::advance(std::size_t kind, GridDensity& density, Within& within, const char* whose) {
  readers_[kind].advance(density, within, moments_[within.slopes.size()]);
  Columns& slope = within.slopes.back();
  mend(
      density, whose, [&](std::size_t i) { return finite(slope, i); },
      [&](std::size_t i, std::size_t peak) {
        for (std::size_t c = 0; c < slope.count(); ++c) slope[c][i] = slope[c][peak];
      });
}

Fields Laws::finish(std::size_t kind, GridDensity& density, const Within& within, const char* whose) {
  FieldReader& reader = readers_[kind];
  Fields out = flows() ? reader.fields(density, within, moments_.back()) : reader.fields_without_flow(density);
  mend(
      density, whose,
      [&](std::size_t i) {
        return finite(out.mean, i) && transports_[kind].contains(out.mean[0][i]) && std::isfinite(out.sd[0][i]) &&
               out.sd[0][i] > 0;
      },
      [&](std::size_t i, std::size_t peak) {
        for (std::size_t c = 0; c < out.mean.count(); ++c) out.mean[c][i] = out.mean[c][peak];
        out.sd[0][i] = out.sd[0][peak];
      });
  return out;
}

Fields Laws::fields(std::size_t kind, GridDensity& density, const char* whose) {
  Within within;
  if (flows()) {
    within = enter(kind, density);
    for (std::size_t stage = 0; stage + 1 < moments_.size(); ++stage) advance(kind, density, within, whose);
  }
  return finish(kind, density, within, whose);
}
}  // namespace mckean
