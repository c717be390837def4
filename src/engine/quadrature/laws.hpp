// The laws of all kinds of blocks, which move together: a step of each reads averages over all.
#pragma once

#include "engine/quadrature/transport.hpp"

namespace mckean {

class Laws {
 public:
  Laws(const Formulas&, const Grid&, Accuracy, std::span<const double> theta);
  Laws(const Laws&) = delete;
  Laws& operator=(const Laws&) = delete;

  // Moves to the first grid point, 0, then to one after the other.
  void arrive(std::size_t k);

  // For densities of a kind that are at the same grid point: how they move on from there. Throws NumericalError where
  // that is not defined, in the name of `whose`.
  Fields fields(std::size_t kind, GridDensity&, const char* whose);
  Transport& transport(std::size_t kind) { return transports_[kind]; }
  double next_variance() const { return goes_on() ? grid_.step[now_].variance : 0; }
  double lattice(std::size_t kind) const;  // of the grids of a kind that make its pairwise averages fast; 0: any

  std::size_t now() const { return now_; }
  std::uint64_t grid_steps() const { return grid_steps_; }  // moves of a grid point, of all densities
  double pairs() const { return pairs_; }                   // values of a pairwise kernel

 private:
  bool goes_on() const { return now_ < grid_.steps(); }
  bool flows() const { return grid_.step[now_].flow > 0; }
  void measure();
  Within enter(std::size_t kind, const GridDensity&);
  void advance(std::size_t kind, GridDensity&, Within&, const char* whose);
  // `fields` after all stages but the last.
  Fields finish(std::size_t kind, GridDensity&, const Within&, const char* whose);
  template <class Defined, class Mend>
  void mend(GridDensity&, const char* whose, Defined&&, Mend&&) const;

  const Formulas& formulas_;
  const Grid& grid_;
  std::span<const double> theta_;
  std::uint64_t grid_steps_ = 0;
  double pairs_ = 0;
  std::size_t now_ = 0;
  std::vector<Transport> transports_;
  std::vector<FieldReader> readers_;
  std::vector<std::optional<MovingDensity>> moving_;  // by kind; none where nothing is averaged over its law
  std::vector<const GridDensity*> densities_;         // of them
  std::vector<Within> within_;                        // the step, by kind
  std::vector<std::vector<double>> moments_;          // jets of all, by stage
};
}  // namespace mckean
