#include "law/pairwise.hpp"

#include <fmt/format.h>

namespace mckean {

PairwiseReader::PairwiseReader(const Dynamics& dynamics, const Kernels& kernels)
    : kernels_(kernels),
      dimension_(dynamics.dimension),
      many_(*dynamics.read_pair, kernels),
      one_(*dynamics.pair_sum, kernels) {
  if (dynamics.cells) cells_.emplace(dynamics, kernels);
}

void PairwiseReader::set_parameters(std::span<const double> theta) {
  many_.set_fixed(theta);
  one_.set_fixed(theta);
  if (cells_) cells_->set_parameters(theta);
}

// A block of particles against each other particle in turn.
bool PairwiseReader::many(const LawPath& law, std::size_t point, double t, const Columns& own, std::size_t n,
                          Columns& means) {
  others_.resize(law.position_columns), own_.resize(dimension_), to_.resize(means.count());
  if (cells_) {
    for (std::size_t c = 0; c < own_.size(); ++c) own_[c] = own[c];
    for (std::size_t p = 0; p < to_.size(); ++p) to_[p] = means[p];
    return cells_->read(*law.cells[point], t, own_, to_, n, false);
  }
  for (std::size_t c = 0; c < others_.size(); ++c) others_[c] = law.position(point, c);
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    for (std::size_t c = 0; c < own_.size(); ++c) own_[c] = own[c] + first;
    for (std::size_t p = 0; p < to_.size(); ++p) to_[p] = means[p] + first;
    pairwise_means(many_, t, {others_, law.particles}, own_, to_, count, kernels_);
  });
  return true;
}

// One particle against blocks of the others.
bool PairwiseReader::one(const LawPath& law, std::size_t point, double t, std::span<const double> own,
                         std::span<double> means) {
  if (cells_) return one_on_cells(*law.cells[point], t, own, means);
  uniforms_.assign(1, t);
  uniforms_.insert(uniforms_.end(), own.begin(), own.end());
  one_.set_uniforms(uniforms_);
  one_.clear_sums();
  others_.resize(law.position_columns);
  for (std::size_t c = 0; c < others_.size(); ++c) others_[c] = law.position(point, c);
  one_.over(law.particles, others_, {});
  for (std::size_t p = 0; p < means.size(); ++p) means[p] = one_.sum(p) / static_cast<double>(law.particles);
  return true;
}

bool PairwiseReader::one_on_cells(const CellMoments& law, double t, std::span<const double> own,
                                  std::span<double> means) {
  Columns x(own.size(), 1), out(means.size(), 1);
  for (std::size_t c = 0; c < own.size(); ++c) std::fill_n(x[c], kLanes, own[c]);
  own_.clear(), to_.clear();
  std::as_const(x).append_to(own_);
  out.append_to(to_);
  const bool known = cells_->read(law, t, own_, to_, 1, false);
  for (std::size_t p = 0; p < means.size(); ++p) means[p] = out[p][0];
  return known;
}

void report_unreadable(double t) {
  throw NumericalError(fmt::format(
      "an interaction is not smooth where a particle of the filter is at t = {:.6g}, far from those of the law; start "
      "nearer to where the data are plausible",
      t));
}
}  // namespace mckean
