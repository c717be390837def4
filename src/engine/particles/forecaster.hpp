// Where particles go without further noise, and how that depends on the noise of the step before.
#pragma once

#include <optional>

#include "law/pairwise.hpp"

namespace mckean {

// Columns of particles on their way: the state, then directions, source by source, component by component.
class Forecaster {
 public:
  Forecaster(std::shared_ptr<const Ahead>, const Grid&, const Kernels&);
  void set_law(const LawPath&, std::span<const double> theta);

  // Of n particles at grid point k: where step k leads without its noise, and the directions of that noise.
  void depart(std::size_t k, const Columns& x, std::size_t n, Columns& to);
  // From grid point `from` to `to`, with directions or without. The answer stands until the next call; where there is
  // no way to go it is `at` itself.
  const Columns& carry(std::size_t from, std::size_t to, const Columns& at, std::size_t n);
  const Columns& flow(std::size_t from, std::size_t to, const Columns& at, std::size_t n);

  std::size_t columns() const { return ahead_->dimension * (1 + ahead_->sources); }
  const Ahead& programs() const { return *ahead_; }

 private:
  void read_pairs(std::size_t k, const Columns& x, std::size_t n);
  const Columns& travel(Frame&, std::size_t columns, std::size_t from, std::size_t to, const Columns& at,
                        std::size_t n);

  std::shared_ptr<const Ahead> ahead_;
  const Grid& grid_;
  const Kernels& kernels_;
  const LawPath* law_ = nullptr;
  Frame launch_, spread_, flow_, carry_;
  std::shared_ptr<const Dynamics> dynamics_;  // of the reader
  std::optional<PairwiseReader> pair_;
  Columns way_[2], xi_;
  std::vector<double> uniforms_;
  std::vector<const double*> in_;
  std::vector<double*> out_;
};
}  // namespace mckean
