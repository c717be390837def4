// Smooth kernels of two components of x and of x' between square cells of a lattice: what the moments in one cell do in
// another, as matrices whose error has been checked.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "step/dynamics.hpp"

namespace mckean {

// Degrees that are tried, and numbers of nodes.
inline constexpr std::size_t kCellDegrees[] = {4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};

struct CellIndex {
  std::int32_t x, y;
  auto operator<=>(const CellIndex&) const = default;
};

// Cells [i side, (i + 1) side) in both directions, and products T_a T_b with a + b < degree in each.
struct Lattice {
  double side = 0;
  std::size_t degree = 0;
  auto operator<=>(const Lattice&) const = default;
  // Products by their degree, those of one degree by a; padded to whole vectors.
  std::size_t terms() const { return degree * (degree + 1) / 2; }
  std::size_t padded() const { return (terms() + kLanes - 1) / kLanes * kLanes; }
};

// f = C m, column by column; rows that do not matter are left out.
struct Transfer {
  std::vector<double> values;
  std::vector<std::uint32_t> length;
};

class CellTable {
 public:
  CellTable(const CellPlan&, const Kernels&);

  void set_parameters(std::span<const double> theta);

  // Null where products of this degree do not represent the kernel to 1e-5 of its size.
  const Transfer* transfer(std::size_t kernel, const Lattice&, CellIndex to, CellIndex from);

  // Whether all kernels are represented within the cell of a point.
  bool serves(const Lattice&, std::array<double, 2> point);

 private:
  struct Key {
    std::size_t kernel;
    Lattice lattice;
    CellIndex to, from;
    auto operator<=>(const Key&) const = default;
  };
  using Points = std::vector<std::array<double, 2>>;

  std::vector<double> sample(std::size_t kernel, const Points& own, const Points& other);
  bool is_difference(std::size_t kernel);
  std::unique_ptr<const Transfer> make(const Key&);
  std::unique_ptr<const Transfer> expand(const Key&, std::size_t nodes, double size);
  bool accurate(const Key&, const Transfer&, double size);

  std::vector<Frame> frames_;
  std::vector<bool> difference_;
  std::vector<double> theta_;
  std::map<Key, std::unique_ptr<const Transfer>> known_;
};
}  // namespace mckean
