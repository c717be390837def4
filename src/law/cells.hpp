// Averages over a law of smooth kernels of two components, by expansions on the cells that its particles occupy.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "law/cell_table.hpp"
#include "noise/columns.hpp"

namespace mckean {

// A law at one time: the occupied cells with the means of weight · T_a T_b in them, and the fields that all of them
// make in each, as coefficients of these products. Row by row of triangles where points are evaluated.
struct CellMoments {
  Lattice lattice;
  std::vector<CellIndex> cells;
  std::map<CellIndex, std::size_t> index;
  std::vector<double> moments;  // by cell, weight and product
  std::vector<double> fields;   // by cell, sum, and place in a triangle

  std::size_t stride() const { return (lattice.degree + kLanes - 1) / kLanes * kLanes; }  // of rows of a triangle
  std::size_t triangle() const { return lattice.degree * stride(); }
};

class Cells {
 public:
  Cells(const Dynamics&, const Kernels&);
  void set_parameters(std::span<const double> theta);
  void restart() { lattice_ = {}; }  // another law begins
  bool started() const { return lattice_.side > 0; }

  // The moments of n particles with columns x, S, and the fields of all sums where they are. False: no lattice
  // represents the kernels.
  bool measure(double t, std::span<const double* const> columns, std::size_t n, CellMoments& to);
  double cost() const { return cost_; }  // of this and of reading it at all particles, in additions

  // Averages (as many as `means`) at n points that feel a law: `own`, points with their S that belong to it; else at
  // fixed x. False: a point is where the kernels are not represented.
  bool read(const CellMoments&, double t, std::span<const double* const> columns, std::span<double* const> means,
            std::size_t n, bool own);

 private:
  struct Reader {
    Frame frame;
    std::size_t sums;
  };
  // A block of points: which cells they are in, and where.
  struct Block {
    std::vector<CellIndex> cell = std::vector<CellIndex>(kBlock);
    AlignedBuffer u{kBlock}, v{kBlock};
    std::vector<double*> to = std::vector<double*>(kBlock);
    std::vector<const double*> from = std::vector<const double*>(kBlock);
  };
  double cost_of(const Lattice&, double cells, std::size_t n) const;
  bool choose(std::span<const double* const> columns, std::size_t n);
  bool locate(const Lattice&, std::span<const double* const> columns, std::size_t first, std::size_t n);
  bool add_moments(double t, std::span<const double* const> columns, std::size_t n, CellMoments& to);
  bool make_field(CellIndex, const CellMoments&, double* to);
  const double* field(CellIndex, const CellMoments&);

  const Dynamics& dynamics_;
  const CellPlan& plan_;
  const Kernels& kernels_;
  CellTable table_;
  Frame weights_;
  Reader values_, read_, own_;
  Lattice lattice_;
  double range_ = 0, cost_ = 0;
  Block block_;
  std::vector<double> graded_;                          // the fields of one cell
  std::map<CellIndex, std::vector<double>> elsewhere_;  // fields where the law has no particles
};
}  // namespace mckean
