#include "law/expander.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr double kTolerance = 1e-10;  // absolute, relative to the kernel's size where that exceeds 1

// a b, row by row as all matrices here; their inner size is given.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t inner) {
  const std::size_t rows = a.size() / inner, columns = b.size() / inner;
  std::vector<double> out(rows * columns, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k) {
      const double factor = a[i * inner + k];
      const double* __restrict from = b.data() + k * columns;
      double* __restrict to = out.data() + i * columns;
      for (std::size_t j = 0; j < columns; ++j) to[j] += factor * from[j];
    }
  return out;
}

std::vector<double> transposed(const std::vector<double>& a, std::size_t columns) {
  const std::size_t rows = a.size() / columns;
  std::vector<double> out(a.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = a[i * columns + j];
  return out;
}
}  // namespace

Range window_for(double low, double high, double margin) {
  const double reach = std::max(0.5 * (high - low), 1e-3);
  // Rounding the center costs up to 1/16 of the half-width.
  const double needed = (1 + 0.5 * margin) * reach * 16.0 / 15.0;
  const double half = std::exp2(std::ceil(4 * std::log2(needed)) / 4);
  return {std::round(0.5 * (low + high) / (half / 8)) * (half / 8), half};
}

Expander::Expander(const Dynamics& dynamics, const Kernels& kernels)
    : dynamics_(dynamics), rank_(dynamics.field.rank), parameters_(dynamics.tangents ? dynamics.dynamic.size() : 0) {
  for (const auto& p : dynamics.expansion_kernels) frames_.emplace_back(p, kernels);
  const double n = static_cast<double>(rank_);
  transform_.resize(rank_ * rank_), back_.resize(rank_ * rank_);
  for (std::size_t i = 0; i < rank_; ++i)
    nodes_.push_back(std::cos((static_cast<double>(i) + 0.5) * std::numbers::pi / n));
  for (std::size_t p = 0; p < rank_; ++p)
    for (std::size_t i = 0; i < rank_; ++i)
      transform_[p * rank_ + i] = back_[i * rank_ + p] =
          (p == 0 ? 1 : 2) / n *
          std::cos(static_cast<double>(p) * (static_cast<double>(i) + 0.5) * std::numbers::pi / n);
}

void Expander::set_parameters(std::span<const double> theta) {
  if (std::ranges::equal(theta, theta_) && !difference_.empty()) return;
  theta_.assign(theta.begin(), theta.end());
  known_.clear();
  for (Frame& f : frames_) f.set_fixed(theta_);
  difference_.clear();
  for (std::size_t e = 0; e < frames_.size(); ++e) difference_.push_back(is_difference(e));
}

// Values of the kernel, then of its derivatives, at all pairs of points: own down, other across.
std::vector<Expander::Matrix> Expander::sample(std::size_t e, std::span<const double> own,
                                               std::span<const double> other) {
  const std::size_t n = own.size(), m = other.size();
  std::vector<Matrix> values(1 + parameters_, Matrix(n * m));
  AlignedBuffer memory((2 + parameters_) * kBlock);
  std::vector<double*> out;
  for (std::size_t k = 0; k <= parameters_; ++k) out.push_back(memory.data() + (1 + k) * kBlock);
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(first), count, memory.data());
    const double* column = memory.data();
    for (std::size_t j = 0; j < m; ++j) {
      frames_[e].set_uniforms(std::span(&other[j], 1));
      frames_[e].run(std::span(&column, 1), out, count);
      for (std::size_t k = 0; k <= parameters_; ++k)
        for (std::size_t i = 0; i < count; ++i) values[k][(first + i) * m + j] = out[k][i];
    }
  });
  return values;
}

bool Expander::is_difference(std::size_t e) {
  const Expansion& x = dynamics_.field.expansions[e];
  if (x.own_window != x.other_window) return false;
  const std::vector<double> own{-0.7, 0.1, 1.3}, other{-1.1, 0.4, 0.9};
  const Matrix here = sample(e, own, other)[0];
  for (const double shift : {0.5, -2.0, 16.0}) {  // exact in binary
    std::vector<double> a = own, b = other;
    for (double& v : a) v += shift;
    for (double& v : b) v += shift;
    const Matrix there = sample(e, a, b)[0];
    for (std::size_t i = 0; i < here.size(); ++i)
      if (!(std::abs(here[i] - there[i]) <= 1e-12 * std::max(1.0, std::abs(here[i])))) return false;
  }
  return true;
}

// C = D K Dᵀ, K the kernel at the Chebyshev nodes and D the discrete cosine transform.
std::vector<Expander::Matrix> Expander::expand(std::size_t e, Range own, Range other) {
  std::vector<double> a(rank_), b(rank_);
  for (std::size_t i = 0; i < rank_; ++i)
    a[i] = own.center + own.half * nodes_[i], b[i] = other.center + other.half * nodes_[i];
  std::vector<Matrix> values = sample(e, a, b);
  for (Matrix& k : values) k = product(product(transform_, k, rank_), back_, rank_);
  return values;
}

// Compares the expansion with the kernel between the nodes, ends included.
bool Expander::accurate(std::size_t e, const Matrix& c, Range own, Range other) {
  const std::size_t points = rank_ + 9;
  std::vector<double> a(points), b(points);
  Matrix t(points * rank_);  // the polynomials at each point
  for (std::size_t i = 0; i < points; ++i) {
    const double u = -1 + 2 * static_cast<double>(i) / static_cast<double>(points - 1);
    a[i] = own.center + own.half * u, b[i] = other.center + other.half * u;
    double* at = t.data() + i * rank_;
    for (std::size_t p = 0; p < rank_; ++p) at[p] = p == 0 ? 1 : p == 1 ? u : 2 * u * at[p - 1] - at[p - 2];
  }
  const Matrix exact = sample(e, a, b)[0];
  double size = 1;
  for (const double v : exact) {
    if (!std::isfinite(v)) return false;
    size = std::max(size, std::abs(v));
  }
  const Matrix expanded = product(product(t, c, rank_), transposed(t, rank_), rank_);
  for (std::size_t i = 0; i < expanded.size(); ++i)
    if (std::abs(expanded[i] - exact[i]) > kTolerance * size) return false;
  return true;
}

const std::vector<Expander::Matrix>* Expander::coefficients(std::size_t e, Range own, Range other) {
  if (difference_[e]) own.center = other.center = 0;
  const Key key{e, own, other};
  if (const auto at = known_.find(key); at != known_.end()) return &at->second;
  std::vector<Matrix> expanded = expand(e, own, other);
  if (!accurate(e, expanded[0], own, other)) return nullptr;
  return &known_.emplace(key, std::move(expanded)).first->second;
}

LawStatus Expander::inputs(std::span<const Range> windows, std::span<const double> moments, std::span<double> inputs,
                           std::span<double> tangents) {
  const MeanField& field = dynamics_.field;
  const std::size_t all = field.inputs.size(), measured = field.moments.size();
  for (std::size_t p = 0; p <= parameters_; ++p) {  // p = 0: the values themselves
    const auto to = p == 0 ? inputs.first(all) : tangents.subspan((p - 1) * all, all);
    std::copy_n(moments.begin() + static_cast<std::ptrdiff_t>(p * measured), field.exact, to.begin());
    for (std::size_t w = 0; w < windows.size(); ++w) {
      to[field.windows[w].center_input] = p == 0 ? windows[w].center : 0;
      to[field.windows[w].center_input + 1] = p == 0 ? 1 / windows[w].half : 0;
    }
  }
  for (std::size_t e = 0; e < field.expansions.size(); ++e) {
    const Expansion& x = field.expansions[e];
    const std::vector<Matrix>* known = coefficients(e, windows[x.own_window], windows[x.other_window]);
    if (!known) return LawStatus::rank_too_low;
    const std::vector<Matrix>& c = *known;
    for (std::size_t p = 0; p <= parameters_; ++p)
      for (std::size_t row = 0; row < rank_; ++row) {
        double b = 0;
        for (std::size_t q = 0; q < rank_; ++q) b += c[0][row * rank_ + q] * moments[p * measured + x.first_moment + q];
        if (p > 0)
          for (std::size_t q = 0; q < rank_; ++q) b += c[p][row * rank_ + q] * moments[x.first_moment + q];
        (p == 0 ? inputs[x.first_input + row] : tangents[(p - 1) * all + x.first_input + row]) = b;
      }
  }
  return LawStatus::good;
}
}  // namespace mckean
