#include "law/pairwise.hpp"

namespace mckean {

PairwiseReader::PairwiseReader(const Dynamics& dynamics, const Kernels& kernels)
    : kernels_(kernels),
      dimension_(dynamics.dimension),
      many_(*dynamics.read_pair, kernels),
      one_(*dynamics.pair_sum, kernels) {}

void PairwiseReader::set_parameters(std::span<const double> theta) {
  many_.set_fixed(theta);
  one_.set_fixed(theta);
}

// A block of particles against each other particle in turn.
void PairwiseReader::many(const LawPath& law, std::size_t point, double t, const Columns& own, std::size_t n,
                          Columns& means) {
  others_.resize(law.position_columns), own_.resize(dimension_), to_.resize(means.count());
  for (std::size_t c = 0; c < others_.size(); ++c) others_[c] = law.position(point, c);
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    for (std::size_t c = 0; c < own_.size(); ++c) own_[c] = own[c] + first;
    for (std::size_t p = 0; p < to_.size(); ++p) to_[p] = means[p] + first;
    pairwise_means(many_, t, {others_, law.particles}, own_, to_, count, kernels_);
  });
}

// One particle against blocks of the others.
void PairwiseReader::one(const LawPath& law, std::size_t point, double t, std::span<const double> own,
                         std::span<double> means) {
  uniforms_.assign(1, t);
  uniforms_.insert(uniforms_.end(), own.begin(), own.end());
  one_.set_uniforms(uniforms_);
  one_.clear_sums();
  others_.resize(law.position_columns);
  for (std::size_t c = 0; c < others_.size(); ++c) others_[c] = law.position(point, c);
  one_.over(law.particles, others_, {});
  for (std::size_t p = 0; p < means.size(); ++p) means[p] = one_.sum(p) / static_cast<double>(law.particles);
}
}  // namespace mckean
