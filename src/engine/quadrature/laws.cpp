#include "engine/quadrature/laws.hpp"

#include <cmath>

#include "law/law.hpp"

namespace mckean {
namespace {

// A density may be undefined where it has no more than this share of its peak.
constexpr double kNegligible = 1e-15;
}  // namespace

Laws::Laws(const Formulas& formulas, const Grid& grid, Accuracy accuracy, std::span<const double> theta)
    : formulas_(formulas),
      grid_(grid),
      theta_(theta),
      densities_(formulas.kinds.size()),
      moments_(formulas.blocks.moments.size() * jet_size(formulas.dynamic)) {
  for (std::size_t kind = 0; kind < formulas.kinds.size(); ++kind) {
    transports_.emplace_back(formulas, kind, accuracy, grid_steps_);
    readers_.emplace_back(formulas, kind, theta);
    bodies_.emplace_back();
    if (formulas.kinds[kind].read) bodies_.back() = transports_.back().origin(formulas.dynamic);
  }
}

void Laws::measure() {
  for (std::size_t kind = 0; kind < bodies_.size(); ++kind)
    if (bodies_[kind]) readers_[kind].measure(*densities_[kind], grid_.time[now_], moments_);
  for (FieldReader& r : readers_) r.set_step(moments_, grid_.step[now_]);
}

void Laws::arrive(std::size_t k) {
  now_ = k;
  const Arrival arrival{next_variance(), goes_on(), {}};
  const std::vector<std::optional<Body>> from =
      std::exchange(bodies_, std::vector<std::optional<Body>>(bodies_.size()));
  std::vector<std::optional<Transport::Move>> moves(from.size());
  for (std::size_t kind = 0; kind < from.size(); ++kind)
    if (from[kind]) moves[kind].emplace(transports_[kind], *from[kind], arrival);
  // Fields need the averages over all, so all arrive before any goes on; where one has to be spread again, all read
  // it anew.
  std::vector<bool> settled(from.size(), false);
  for (bool all = false; !all;) {
    for (std::size_t kind = 0; kind < from.size(); ++kind)
      if (moves[kind] && !settled[kind]) {
        bodies_[kind] = moves[kind]->spread();
        densities_[kind] = &bodies_[kind]->density;
      }
    if (!goes_on()) return;
    measure();
    all = true;
    for (std::size_t kind = 0; kind < from.size(); ++kind) {
      if (!moves[kind]) continue;
      bodies_[kind]->fields = fields(kind, bodies_[kind]->density, "densities of the law");
      settled[kind] = moves[kind]->settles(*bodies_[kind]);
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

Fields Laws::fields(std::size_t kind, GridDensity& density, const char* whose) {
  const double pairs = readers_[kind].pairs(density, densities_);
  if (pairs > transports_[kind].accuracy().work) throw GridTooLarge();
  pairs_ += pairs;
  Fields out = readers_[kind].fields(density, densities_);
  const std::size_t peak = density.peak();
  const auto defined = [&](std::size_t i) {
    for (std::size_t c = 0; c < out.mean.count(); ++c)
      if (!std::isfinite(out.mean[c][i])) return false;
    return std::isfinite(out.sd[0][i]) && out.sd[0][i] > 0;
  };
  for (std::size_t i = 0; i < density.points; ++i) {
    if (defined(i)) continue;
    if (!(density.mass[0][i] <= kNegligible * density.mass[0][peak]) || !defined(peak))
      report_overflow(formulas_.blocks.model, theta_, grid_.level, grid_.time[now_], whose);
    for (std::size_t c = 0; c < density.mass.count(); ++c) density.mass[c][i] = 0;
    for (std::size_t c = 0; c < out.mean.count(); ++c) out.mean[c][i] = out.mean[c][peak];
    out.sd[0][i] = out.sd[0][peak];
  }
  return out;
}
}  // namespace mckean
