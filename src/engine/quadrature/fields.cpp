#include "engine/quadrature/fields.hpp"

namespace mckean {
namespace {

constexpr double kTransform = 10;  // what a point costs in a fast convolution, in values of a kernel

// The sums of a program over all points of a law.
void add_up(Frame& frame, const GridDensity& law) {
  std::vector<const double*> columns;
  law.x.append_to(columns);
  law.mass.append_to(columns);
  frame.clear_sums();
  frame.over(law.points, columns, {});
}
}  // namespace

FieldReader::FieldReader(const Formulas& formulas, std::size_t kind, std::span<const double> theta)
    : all_(formulas), formulas_(formulas.kinds[kind]), step_(formulas_.step), measure_(formulas_.measure) {
  step_.set_fixed(theta);
  measure_.set_fixed(theta);
  for (const PairFormulas& p : formulas_.pairs) {
    Pair& pair = pairs_.emplace_back(Pair{p, Frame(p.pair), std::nullopt});
    pair.frame.set_fixed(theta);
    if (p.difference) pair.convolution.emplace(p, formulas.dynamic, theta);
  }
}

bool FieldReader::Pair::convolves(const GridDensity& density, const GridDensity& law) const {
  return convolution && Convolution::serves(density, law);
}

double FieldReader::pairs(const GridDensity& density, LawDensities laws) const {
  double sum = 0;
  for (const Pair& p : pairs_) {
    const GridDensity& law = *laws[p.formulas.over];
    const double n = static_cast<double>(density.points), others = static_cast<double>(law.points);
    sum += p.convolves(density, law) ? kTransform * (n + others) : n * others;
  }
  return sum;
}

void FieldReader::measure(const GridDensity& law, double t, std::span<double> moments) {
  const std::vector<std::size_t>& own = formulas_.moments;
  measure_.set_uniforms(std::array{t});
  add_up(measure_, law);
  const std::size_t entries = jet_size(all_.dynamic), all = moments.size() / entries;
  for (std::size_t entry = 0; entry < entries; ++entry)
    for (std::size_t r = 0; r < own.size(); ++r) moments[entry * all + own[r]] = measure_.sum(entry * own.size() + r);
}

void FieldReader::set_step(std::span<const double> moments, const StepTime& step) {
  t_ = step.t;
  uniforms_.assign({step.t, step.flow, step.root()});
  uniforms_.insert(uniforms_.end(), moments.begin(), moments.end());
  step_.set_uniforms(uniforms_);
}

Columns FieldReader::Pair::averages(const GridDensity& density, const GridDensity& law, double t) {
  if (convolves(density, law)) return convolution->sums(density, law, t);
  Columns xi(formulas.pair.sums(), density.points);
  for (std::size_t i = 0; i < density.points; ++i) {
    frame.set_uniforms(std::array{t, density.x[0][i]});
    add_up(frame, law);
    for (std::size_t c = 0; c < xi.count(); ++c) xi[c][i] = frame.sum(c);
  }
  return xi;
}

Fields FieldReader::fields(const GridDensity& density, LawDensities laws) {
  Fields out{Columns(jet_size(all_.dynamic), density.points), Columns(1, density.points)};
  std::vector<Columns> xi;
  for (Pair& p : pairs_) xi.push_back(p.averages(density, *laws[p.formulas.over], t_));
  std::vector<const double*> from;
  density.x.append_to(from);
  for (const Columns& columns : xi) columns.append_to(from);
  std::vector<double*> to;
  out.mean.append_to(to);
  out.sd.append_to(to);
  step_.over(density.points, from, to);
  return out;
}
}  // namespace mckean
