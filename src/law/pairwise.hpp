// Averages over all particles of a law, where an interaction has no moments: N kernel values for each particle that
// feels it.
#pragma once

#include "law/law.hpp"

namespace mckean {

class PairwiseReader {
 public:
  PairwiseReader(const Dynamics&, const Kernels&);
  void set_parameters(std::span<const double> theta);

  // Means of all pairwise kernels (and, where tangents are on, their derivatives) over the law at a grid point.
  void many(const LawPath&, std::size_t point, double t, const Columns& own, std::size_t n, Columns& means);
  void one(const LawPath&, std::size_t point, double t, std::span<const double> own, std::span<double> means);

 private:
  const Kernels& kernels_;
  std::size_t dimension_;
  Frame many_, one_;
  std::vector<double> uniforms_;
  std::vector<const double*> others_, own_;
  std::vector<double*> to_;
};
}  // namespace mckean
