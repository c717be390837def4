#include "law/cell_table.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr double kTolerance = 1e-5;                              // of the kernel's size
constexpr double kProbes[] = {-1, -0.69, -0.23, 0.31, 0.77, 1};  // where errors are looked at, in half a side

std::size_t place(std::size_t a, std::size_t b) { return (a + b) * (a + b + 1) / 2 + a; }

double coordinate(std::int32_t cell, double side, double u) {
  return (static_cast<double>(cell) + 0.5 * (u + 1)) * side;
}

template <class Nodes>
std::vector<std::array<double, 2>> points_in(CellIndex cell, double side, const Nodes& nodes) {
  std::vector<std::array<double, 2>> out;
  for (const double u : nodes)
    for (const double v : nodes) out.push_back({coordinate(cell.x, side, u), coordinate(cell.y, side, v)});
  return out;
}

// From values at Chebyshev nodes on the first of four axes of m each to coefficients on the last.
std::vector<double> transform_first(const std::vector<double>& values, const std::vector<double>& back, std::size_t m) {
  const std::size_t rest = values.size() / m;
  std::vector<double> out(values.size(), 0.0);
  for (std::size_t r = 0; r < rest; ++r)
    for (std::size_t i = 0; i < m; ++i) {
      const double value = values[i * rest + r];
      const double* __restrict from = back.data() + i * m;
      double* __restrict to = out.data() + r * m;
      for (std::size_t p = 0; p < m; ++p) to[p] += value * from[p];
    }
  return out;
}

double largest(std::span<const double> values) {
  double size = 0;
  for (const double v : values) size = std::max(size, std::isfinite(v) ? std::abs(v) : INFINITY);
  return size;
}

// The products at points of a cell, point by point.
std::vector<double> products(std::size_t degree, std::span<const double> nodes) {
  std::vector<double> out;
  const auto polynomials = [&](double u) {
    std::vector<double> t{1, u};
    while (t.size() < degree) t.push_back(2 * u * t[t.size() - 1] - t[t.size() - 2]);
    return t;
  };
  for (const double u : nodes)
    for (const double v : nodes) {
      const auto s = polynomials(u), t = polynomials(v);
      for (std::size_t d = 0; d < degree; ++d)
        for (std::size_t a = 0; a <= d; ++a) out.push_back(s[a] * t[d - a]);
    }
  return out;
}
}  // namespace

CellTable::CellTable(const CellPlan& plan, const Kernels& kernels) {
  for (const Program& p : plan.kernels) frames_.emplace_back(p, kernels);
}

void CellTable::set_parameters(std::span<const double> theta) {
  if (std::ranges::equal(theta, theta_) && !difference_.empty()) return;
  theta_.assign(theta.begin(), theta.end());
  known_.clear();
  for (Frame& f : frames_) f.set_fixed(theta_);
  difference_.clear();
  for (std::size_t k = 0; k < frames_.size(); ++k) difference_.push_back(is_difference(k));
}

// Own points down, others across.
std::vector<double> CellTable::sample(std::size_t kernel, const Points& own, const Points& other) {
  std::vector<double> values(own.size() * other.size());
  AlignedBuffer memory(3 * kBlock);
  const double* in[] = {memory.data(), memory.data() + kBlock};
  double* out = memory.data() + 2 * kBlock;
  for_blocks(own.size(), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 2; ++c) memory.data()[c * kBlock + i] = own[first + i][c];
    for (std::size_t j = 0; j < other.size(); ++j) {
      frames_[kernel].set_uniforms(other[j]);
      frames_[kernel].run(in, std::span(&out, 1), count);
      for (std::size_t i = 0; i < count; ++i) values[(first + i) * other.size() + j] = out[i];
    }
  });
  return values;
}

// Of x − x' alone: then only the distance between two cells matters.
bool CellTable::is_difference(std::size_t kernel) {
  const Points own{{-0.7, 0.2}, {0.1, -1.1}, {1.3, 0.6}}, other{{-1.1, 0.5}, {0.4, 0.9}, {0.9, -0.3}};
  const std::vector<double> here = sample(kernel, own, other);
  for (const std::array<double, 2> shift : {std::array{0.5, 0.0}, {0.0, -2.0}, {16.0, 4.0}}) {
    Points a = own, b = other;
    for (Points* points : {&a, &b})
      for (auto& p : *points) p[0] += shift[0], p[1] += shift[1];
    const std::vector<double> there = sample(kernel, a, b);
    for (std::size_t i = 0; i < here.size(); ++i)
      if (!(std::abs(here[i] - there[i]) <= 1e-12 * std::max(1.0, std::abs(here[i])))) return false;
  }
  return true;
}

const Transfer* CellTable::transfer(std::size_t kernel, const Lattice& lattice, CellIndex to, CellIndex from) {
  if (difference_[kernel]) from = {from.x - to.x, from.y - to.y}, to = {0, 0};
  const Key key{kernel, lattice, to, from};
  const auto [at, fresh] = known_.try_emplace(key);
  if (fresh) at->second = make(key);
  return at->second.get();
}

// The fewest nodes that serve.
std::unique_ptr<const Transfer> CellTable::make(const Key& key) {
  const auto own = points_in(key.to, key.lattice.side, kProbes), other = points_in(key.from, key.lattice.side, kProbes);
  const double size = std::max(largest(sample(key.kernel, own, own)), largest(sample(key.kernel, own, other)));
  if (!std::isfinite(size)) return nullptr;
  const bool near = std::abs(key.to.x - key.from.x) <= 1 && std::abs(key.to.y - key.from.y) <= 1;
  for (const std::size_t nodes : kCellDegrees) {
    if (nodes > key.lattice.degree) break;
    if (near && nodes + 4 < key.lattice.degree) continue;  // would not serve
    auto made = expand(key, nodes, size);
    if (accurate(key, *made, size)) return made;
  }
  return nullptr;
}

// Values at Chebyshev nodes, their discrete cosine transforms, and what of it is not negligible.
std::unique_ptr<const Transfer> CellTable::expand(const Key& key, std::size_t m, double size) {
  std::vector<double> nodes(m), back(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    const double angle = (static_cast<double>(i) + 0.5) * std::numbers::pi / static_cast<double>(m);
    nodes[i] = std::cos(angle);
    for (std::size_t p = 0; p < m; ++p)
      back[i * m + p] = (p == 0 ? 1 : 2) / static_cast<double>(m) * std::cos(static_cast<double>(p) * angle);
  }
  std::vector<double> c =
      sample(key.kernel, points_in(key.to, key.lattice.side, nodes), points_in(key.from, key.lattice.side, nodes));
  for (int axis = 0; axis < 4; ++axis) c = transform_first(c, back, m);

  auto out = std::make_unique<Transfer>();
  const std::size_t terms = key.lattice.terms(), degree = key.lattice.degree;
  const double negligible = 0.2 * kTolerance * size / static_cast<double>(terms);
  std::vector<double> column(key.lattice.padded());
  for (std::size_t d = 0; d < std::min(degree, 2 * m - 1); ++d)
    for (std::size_t a = 0; a <= d; ++a) {
      std::ranges::fill(column, 0.0);
      for (std::size_t p = 0; p < m && a < m && d - a < m; ++p)
        for (std::size_t q = 0; q < m && p + q < degree; ++q)
          column[place(p, q)] = c[((p * m + q) * m + a) * m + (d - a)];
      std::size_t rows = terms;
      for (double left = 0; rows > 0 && (left += std::abs(column[rows - 1])) <= negligible;) --rows;
      rows = (rows + kLanes - 1) / kLanes * kLanes;
      out->length.push_back(static_cast<std::uint32_t>(rows));
      out->values.insert(out->values.end(), column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rows));
    }
  while (!out->length.empty() && out->length.back() == 0) out->length.pop_back();
  return out;
}

// Compares with the kernel between the nodes, edges and equal points included.
bool CellTable::accurate(const Key& key, const Transfer& c, double size) {
  const std::vector<double> at = products(key.lattice.degree, kProbes);
  const std::size_t terms = key.lattice.terms(), points = std::size(kProbes) * std::size(kProbes);
  const std::vector<double> exact =
      sample(key.kernel, points_in(key.to, key.lattice.side, kProbes), points_in(key.from, key.lattice.side, kProbes));
  std::vector<double> field(key.lattice.padded());
  for (std::size_t j = 0; j < points; ++j) {
    std::ranges::fill(field, 0.0);
    const double* column = c.values.data();
    for (std::size_t t = 0; t < c.length.size(); column += c.length[t], ++t)
      for (std::size_t row = 0; row < c.length[t]; ++row) field[row] += column[row] * at[j * terms + t];
    for (std::size_t i = 0; i < points; ++i) {
      double value = 0;
      for (std::size_t t = 0; t < terms; ++t) value += field[t] * at[i * terms + t];
      if (!(std::abs(value - exact[i * points + j]) <= kTolerance * size)) return false;
    }
  }
  return true;
}

bool CellTable::serves(const Lattice& lattice, std::array<double, 2> point) {
  const CellIndex cell{static_cast<std::int32_t>(std::floor(point[0] / lattice.side)),
                       static_cast<std::int32_t>(std::floor(point[1] / lattice.side))};
  for (std::size_t k = 0; k < frames_.size(); ++k)
    if (!transfer(k, lattice, cell, cell)) return false;
  return true;
}
}  // namespace mckean
