// Averages over all particles of a law, where an interaction has no moments: N kernel values for each particle that
// feels it.
#pragma once

#include "law/law.hpp"

namespace mckean {

class PairwiseReader {
 public:
  PairwiseReader(const Dynamics&, const Kernels&);
  void set_parameters(std::span<const double> theta);

  // False where the law is expanded on cells and a particle is where that does not serve.
  // Means of all pairwise kernels (and, where tangents are on, their derivatives) over the law at a grid point.
  bool many(const LawPath&, std::size_t point, double t, const Columns& own, std::size_t n, Columns& means);
  bool one(const LawPath&, std::size_t point, double t, std::span<const double> own, std::span<double> means);

 private:
  bool one_on_cells(const CellMoments&, double t, std::span<const double> own, std::span<double> means);

  const Kernels& kernels_;
  std::size_t dimension_;
  Frame many_, one_;
  std::optional<Cells> cells_;
  std::vector<double> uniforms_;
  std::vector<const double*> others_, own_;
  std::vector<double*> to_;
};

// For readers that cannot ask for another law.
[[noreturn]] void report_unreadable(double t);
}  // namespace mckean
