#include "engine/quadrature/fields.hpp"

#include <algorithm>

namespace mckean {
namespace {

constexpr double kTransform = 10;  // what a point costs in a fast convolution, in values of a kernel

// The sums of a program over all points of a law.
void add_up(Frame& frame, const GridDensity& law, std::span<const Columns> slopes = {}) {
  std::vector<const double*> columns;
  law.x.append_to(columns);
  law.mass.append_to(columns);
  for (const Columns& c : slopes) c.append_to(columns);
  frame.clear_sums();
  frame.over(law.points, columns, {});
}
}  // namespace

FieldReader::FieldReader(const Formulas& formulas, std::size_t kind, std::span<const double> theta)
    : all_(formulas), formulas_(formulas.kinds[kind]), noise_(formulas_.noise) {
  noise_.set_fixed(theta);
  for (const StageFormulas& s : formulas_.stages) {
    Stage& stage = stages_.emplace_back(Stage{Frame(s.measure), Frame(s.slope)});
    stage.measure.set_fixed(theta);
    stage.slope.set_fixed(theta);
  }
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

void FieldReader::begin(const StepTime& step) {
  step_ = step;
  noise_.set_uniforms(std::array{step.t, step.flow, step.root()});
  for (Stage& s : stages_) s.measure.set_uniforms(std::array{step.t, step.flow});
}

Within FieldReader::enter(const GridDensity& density, LawDensities laws) {
  Within out;
  for (Pair& p : pairs_) out.pairs.push_back(p.averages(density, *laws[p.formulas.over], step_.t));
  return out;
}

void FieldReader::measure(const GridDensity& law, const Within& within, std::span<double> moments) {
  const std::vector<std::size_t>& own = formulas_.moments;
  Frame& frame = stages_[within.slopes.size()].measure;
  add_up(frame, law, within.slopes);
  const std::size_t entries = jet_size(all_.dynamic), all = moments.size() / entries;
  for (std::size_t entry = 0; entry < entries; ++entry)
    for (std::size_t r = 0; r < own.size(); ++r) moments[entry * all + own[r]] = frame.sum(entry * own.size() + r);
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

Columns FieldReader::run_stage(std::size_t stage, const GridDensity& density, const Within& within,
                               std::span<const double> moments) {
  std::vector<double> uniforms{step_.t, step_.flow};
  uniforms.insert(uniforms.end(), moments.begin(), moments.end());
  Frame& frame = stages_[stage].slope;
  frame.set_uniforms(uniforms);
  Columns out(jet_size(all_.dynamic), density.points);
  std::vector<const double*> from;
  density.x.append_to(from);
  for (const Columns& c : within.pairs) c.append_to(from);
  for (const Columns& c : within.slopes) c.append_to(from);
  std::vector<double*> to;
  out.append_to(to);
  frame.over(density.points, from, to);
  return out;
}

void FieldReader::advance(const GridDensity& density, Within& within, std::span<const double> moments) {
  within.slopes.push_back(run_stage(within.slopes.size(), density, within, moments));
}

Fields FieldReader::fields(const GridDensity& density, const Within& within, std::span<const double> moments) {
  Fields out = fields_without_flow(density);
  out.mean = run_stage(stages_.size() - 1, density, within, moments);
  return out;
}

Fields FieldReader::fields_without_flow(const GridDensity& density) {
  Fields out{Columns(jet_size(all_.dynamic), density.points), Columns(1, density.points)};
  std::copy_n(density.x[0], density.points, out.mean[0]);
  std::vector<const double*> from;
  density.x.append_to(from);
  std::vector<double*> to;
  out.sd.append_to(to);
  noise_.over(density.points, from, to);
  return out;
}
}  // namespace mckean
