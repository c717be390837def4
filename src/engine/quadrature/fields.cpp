#include "engine/quadrature/fields.hpp"

namespace mckean {
namespace {

constexpr double kTransform = 10;  // what a point costs in a fast convolution, in values of a kernel

std::vector<const double*> all(const Columns& first, const Columns& second) {
  std::vector<const double*> out;
  first.append_to(out);
  second.append_to(out);
  return out;
}

// The sums of a program over all points of a law.
void add_up(Frame& frame, const GridDensity& law) {
  frame.clear_sums();
  frame.over(law.points, all(law.x, law.mass), {});
}
}  // namespace

FieldReader::FieldReader(const Formulas& formulas, std::span<const double> theta)
    : formulas_(formulas), step_(formulas.step), measure_(formulas.measure) {
  step_.set_fixed(theta);
  measure_.set_fixed(theta);
  if (!formulas.pair) return;
  pair_ = Frame(*formulas.pair);
  pair_.set_fixed(theta);
  if (formulas.difference) convolution_.emplace(formulas, theta);
}

double FieldReader::pairs(const GridDensity& density, const GridDensity& law) const {
  if (!formulas_.pair) return 0;
  const double n = static_cast<double>(density.points), others = static_cast<double>(law.points);
  if (convolution_ && Convolution::serves(density, law)) return kTransform * (n + others);
  return n * others;
}

std::vector<double> FieldReader::moments(const GridDensity& law, double t) {
  std::vector<double> out;
  measure_.set_uniforms(std::array{t});
  add_up(measure_, law);
  for (std::size_t i = 0; i < formulas_.measure.sums(); ++i) out.push_back(measure_.sum(i));
  return out;
}

Columns FieldReader::pairwise(const GridDensity& density, const GridDensity& law, double t) {
  if (convolution_ && Convolution::serves(density, law)) return convolution_->sums(density, law, t);
  Columns xi(formulas_.pair ? formulas_.pair->sums() : 0, density.points);
  for (std::size_t i = 0; i < density.points && xi.count() > 0; ++i) {
    pair_.set_uniforms(std::array{t, density.x[0][i]});
    add_up(pair_, law);
    for (std::size_t c = 0; c < xi.count(); ++c) xi[c][i] = pair_.sum(c);
  }
  return xi;
}

Fields FieldReader::fields(const GridDensity& density, const GridDensity& law, std::span<const double> moments,
                           const StepTime& step) {
  Fields out{Columns(jet_size(formulas_.dynamic), density.points), Columns(1, density.points)};
  const Columns xi = pairwise(density, law, step.t);
  std::vector<double> uniforms{step.t, step.flow, step.root()};
  uniforms.insert(uniforms.end(), moments.begin(), moments.end());
  step_.set_uniforms(uniforms);
  std::vector<double*> to;
  out.mean.append_to(to);
  out.sd.append_to(to);
  step_.over(density.points, all(density.x, xi), to);
  return out;
}
}  // namespace mckean
