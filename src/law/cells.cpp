#include "law/cells.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mckean {
namespace {

constexpr double kMostCells = 4096;
constexpr int kFinest = 5, kCoarsest = 1;  // sides of lattices that are tried: the range over these powers of two

struct Extent {
  double low, high;
};

Extent extent(const double* x, std::size_t n) {
  const auto [low, high] = std::minmax_element(x, x + n);
  return {*low, *high};
}

// each(place in the order of degrees, place in a triangle)
template <class Each>
void for_products(const Lattice& lattice, std::size_t stride, Each&& each) {
  std::size_t at = 0;
  for (std::size_t d = 0; d < lattice.degree; ++d)
    for (std::size_t a = 0; a <= d; ++a) each(at++, a * stride + d - a);
}
}  // namespace

Cells::Cells(const Dynamics& dynamics, const Kernels& kernels)
    : dynamics_(dynamics),
      plan_(*dynamics.cells),
      kernels_(kernels),
      table_(plan_, kernels),
      weights_(plan_.weights, kernels),
      values_{Frame(plan_.values, kernels), plan_.value_sums},
      read_{Frame(plan_.read, kernels), plan_.read_sums},
      own_{Frame(plan_.own, kernels), plan_.sums.size()} {}

void Cells::set_parameters(std::span<const double> theta) {
  table_.set_parameters(theta);
  weights_.set_fixed(theta);
  for (Reader* r : {&values_, &read_, &own_}) r->frame.set_fixed(theta);
}

// What a step of n particles costs, in additions: moments and fields at the particles, and matrices between cells, of
// which those of distant ones have few entries.
double Cells::cost_of(const Lattice& lattice, double cells, std::size_t n) const {
  const double sums = static_cast<double>(plan_.sums.size()), weights = static_cast<double>(plan_.weights.outputs());
  const double terms = static_cast<double>(lattice.terms()), near = std::min(cells, 25.0), far = cells - near;
  return static_cast<double>(n) * (weights + sums) * terms + sums * cells * (near / 3 + far / 16) * terms * terms;
}

// The side at which all that costs least: coarser ones need higher degrees, which are tried while they could gain.
bool Cells::choose(std::span<const double* const> columns, std::size_t n) {
  const Extent x = extent(columns[plan_.axes[0]], n), y = extent(columns[plan_.axes[1]], n);
  const double range = std::max({x.high - x.low, y.high - y.low, 1e-3});
  if (!std::isfinite(range)) return false;
  if (lattice_.side > 0 && range <= 1.25 * range_ && 2 * range > range_) return true;
  range_ = range;
  lattice_ = {};
  std::size_t first = 0;  // of the degrees
  for (int j = kFinest; j >= kCoarsest; --j) {
    const double side = std::exp2(std::ceil(std::log2(range)) - j);
    const double cells =
        std::min(static_cast<double>(n), ((x.high - x.low) / side + 1) * ((y.high - y.low) / side + 1));
    for (std::size_t d = first; d < std::size(kCellDegrees); ++d) {
      const Lattice lattice{side, kCellDegrees[d]};
      const double cost = cost_of(lattice, cells, n);
      if (lattice_.side > 0 && cost >= cost_) break;
      if (!table_.serves(lattice, {0.5 * (x.low + x.high), 0.5 * (y.low + y.high)})) continue;
      lattice_ = lattice, cost_ = cost, first = d;
      break;
    }
    if (lattice_.side == 0) return false;  // coarser ones would not serve either
  }
  return true;
}

// Of points first .. first + n, n <= kBlock. False where a point is not finite, or too far away to number its cell.
bool Cells::locate(const Lattice& lattice, std::span<const double* const> columns, std::size_t first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = columns[plan_.axes[0]][first + i] / lattice.side,
                 y = columns[plan_.axes[1]][first + i] / lattice.side;
    if (!(std::abs(x) < 1e9 && std::abs(y) < 1e9)) return false;
    const double column = std::floor(x), row = std::floor(y);
    block_.cell[i] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)};
    block_.u.data()[i] = 2 * (x - column) - 1;
    block_.v.data()[i] = 2 * (y - row) - 1;
  }
  return true;
}

// Into triangles, which are then written out by degree.
bool Cells::add_moments(double t, std::span<const double* const> columns, std::size_t n, CellMoments& to) {
  const std::size_t weights = plan_.weights.outputs(), triangle = to.triangle(), padded = to.lattice.padded();
  to.cells.clear(), to.index.clear();
  std::vector<AlignedBuffer> sums;
  std::vector<const double*> in(columns.size());
  AlignedBuffer memory(weights * kBlock);
  std::vector<double*> weight(weights);
  for (std::size_t k = 0; k < weights; ++k) weight[k] = memory.data() + k * kBlock;
  weights_.set_uniforms(std::span(&t, 1));
  bool known = true;
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    known = known && locate(to.lattice, columns, first, count);
    if (!known) return;
    for (std::size_t c = 0; c < in.size(); ++c) in[c] = columns[c] + first;
    weights_.run(in, weight, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && block_.cell[i] == block_.cell[i - 1]) {
        block_.to[i] = block_.to[i - 1];
        continue;
      }
      const auto [at, fresh] = to.index.try_emplace(block_.cell[i], to.cells.size());
      if (fresh) to.cells.push_back(block_.cell[i]), sums.emplace_back(weights * triangle);
      block_.to[i] = sums[at->second].data();
    }
    kernels_.add_products({to.lattice.degree, to.stride(), weights}, block_.u.data(), block_.v.data(), weight.data(),
                          block_.to.data(), count);
  });
  to.moments.assign(to.cells.size() * weights * padded, 0.0);
  double* out = to.moments.data();
  for (std::size_t c = 0; c < to.cells.size(); ++c)
    for (std::size_t k = 0; k < weights; ++k, out += padded)
      for_products(to.lattice, to.stride(), [&](std::size_t graded, std::size_t place) {
        out[graded] = sums[c].data()[k * triangle + place] / static_cast<double>(n);
      });
  return known && static_cast<double>(to.cells.size()) <= kMostCells;
}

// What all cells do in one, as triangles of each sum.
bool Cells::make_field(CellIndex cell, const CellMoments& from, double* to) {
  const std::size_t padded = from.lattice.padded(), weights = plan_.weights.outputs(), kernels = plan_.kernels.size();
  graded_.assign(plan_.sums.size() * padded, 0.0);
  std::vector<const double*> in;
  std::vector<double*> out;
  for (std::size_t c = 0; c < from.cells.size(); ++c)
    for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
      const Transfer* transfer = table_.transfer(kernel, from.lattice, cell, from.cells[c]);
      if (!transfer) return false;
      in.clear(), out.clear();
      for (std::size_t s = 0; s < plan_.sums.size(); ++s) {
        if (plan_.sums[s].kernel != kernel) continue;
        in.push_back(from.moments.data() + (c * weights + plan_.sums[s].weight) * padded);
        out.push_back(graded_.data() + s * padded);
      }
      kernels_.add_staircase({transfer->values.data(), transfer->length.data(), transfer->length.size()}, in.data(),
                             out.data(), in.size());
    }
  for (std::size_t s = 0; s < plan_.sums.size(); ++s)
    for_products(from.lattice, from.stride(), [&](std::size_t graded, std::size_t place) {
      to[s * from.triangle() + place] = graded_[s * padded + graded];
    });
  return true;
}

bool Cells::measure(double t, std::span<const double* const> columns, std::size_t n, CellMoments& to) {
  if (!choose(columns, n)) return false;
  while (true) {
    to.lattice = lattice_;
    if (!add_moments(t, columns, n, to)) return false;
    const std::size_t size = plan_.sums.size() * to.triangle();
    to.fields.assign(to.cells.size() * size, 0.0);
    bool served = true;
    for (std::size_t c = 0; c < to.cells.size() && served; ++c)
      served = make_field(to.cells[c], to, to.fields.data() + c * size);
    if (served) return true;
    if ((lattice_.degree += 2) > kMostDegree) return false;
  }
}

const double* Cells::field(CellIndex cell, const CellMoments& law) {
  const std::size_t size = plan_.sums.size() * law.triangle();
  if (const auto at = law.index.find(cell); at != law.index.end()) return law.fields.data() + at->second * size;
  const auto [at, fresh] = elsewhere_.try_emplace(cell);
  if (fresh) {
    at->second.assign(size, 0.0);
    if (!make_field(cell, law, at->second.data())) return nullptr;
  }
  return at->second.data();
}

bool Cells::read(const CellMoments& law, double t, std::span<const double* const> columns,
                 std::span<double* const> means, std::size_t n, bool own) {
  Reader& reader = own ? own_ : means.size() == dynamics_.field.pairwise.size() ? values_ : read_;
  elsewhere_.clear();
  AlignedBuffer memory(reader.sums * kBlock);
  std::vector<double*> sums(reader.sums), out(means.size());
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s] = memory.data() + s * kBlock;
  std::vector<const double*> in;
  reader.frame.set_uniforms(std::span(&t, 1));
  bool known = true;
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    known = known && locate(law.lattice, columns, first, count);
    for (std::size_t i = 0; i < count && known; ++i) known = (block_.from[i] = field(block_.cell[i], law)) != nullptr;
    if (!known) return;
    kernels_.sum_products({law.lattice.degree, law.stride(), reader.sums}, block_.u.data(), block_.v.data(),
                          block_.from.data(), sums.data(), count);
    in.clear();
    for (const double* c : columns) in.push_back(c + first);
    in.insert(in.end(), sums.begin(), sums.end());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = means[k] + first;
    reader.frame.run(in, out, count);
  });
  return known;
}
}  // namespace mckean
