#include "engine/kalman/jet_matrix.hpp"

#include <cassert>

namespace mckean {

using Eigen::Index;

namespace {

// The jet of a product; `add` adds the product of two entries to an entry.
template <class Add>
void multiply(const JetMatrix& x, const JetMatrix& y, JetMatrix& out, Add&& add) {
  assert(x.parameters() == y.parameters());
  const auto term = [&](std::size_t entry, std::size_t of_x, std::size_t of_y) {
    if (!x.zero(of_x) && !y.zero(of_y)) add(x[of_x], y[of_y], out.writable(entry));
  };
  for_each_entry(x.parameters(), [&](std::size_t a, std::size_t b) {
    const std::size_t entry = jet_index(a, b);
    term(entry, entry, 0);
    if (b == 0) return;
    term(entry, 0, entry);
    if (a == 0) return;
    term(entry, jet_index(0, a), jet_index(0, b));
    term(entry, jet_index(0, b), jet_index(0, a));
  });
}
}  // namespace

JetMatrix JetMatrix::transposed() const {
  JetMatrix out(columns_, rows_, parameters_);
  for (std::size_t e = 0; e < written_.size(); ++e)
    if (!zero(e)) out.writable(e) = (*this)[e].transpose();
  return out;
}

JetMatrix JetMatrix::block(Index row, Index column, Index rows, Index columns) const {
  JetMatrix out(rows, columns, parameters_);
  for (std::size_t e = 0; e < written_.size(); ++e)
    if (!zero(e)) out.writable(e) = (*this)[e].block(row, column, rows, columns);
  return out;
}

void JetMatrix::put(Index row, Index column, const JetMatrix& part) {
  for (std::size_t e = 0; e < written_.size(); ++e)
    if (!part.zero(e)) writable(e).block(row, column, part.rows(), part.columns()) = part[e];
}

JetMatrix& JetMatrix::operator+=(const JetMatrix& other) {
  for (std::size_t e = 0; e < written_.size(); ++e)
    if (!other.zero(e)) writable(e) += other[e];
  return *this;
}

JetMatrix& JetMatrix::operator*=(double factor) {
  for (double& x : elements_) x *= factor;
  return *this;
}

JetMatrix operator*(const JetMatrix& x, const JetMatrix& y) {
  JetMatrix out(x.rows(), y.columns(), x.parameters());
  multiply(x, y, out, [](const JetMatrix::Entry& a, const JetMatrix::Entry& b, auto&& to) {
    if (a.size() == 1 && b.size() == 1)
      to(0, 0) += a(0, 0) * b(0, 0);
    else
      to.noalias() += a.lazyProduct(b);
  });
  return out;
}

JetMatrix scaled(const JetMatrix& number, const JetMatrix& y) {
  JetMatrix out(y.rows(), y.columns(), y.parameters());
  multiply(number, y, out, [](const JetMatrix::Entry& a, const JetMatrix::Entry& b, auto&& to) { to += a(0, 0) * b; });
  return out;
}

// ∂_a f(u) = f' ∂_a u,  ∂_a ∂_b f(u) = f' ∂_a ∂_b u + f'' ∂_a u ∂_b u
JetMatrix composed(const JetMatrix& u, double f, double slope, double curvature) {
  JetMatrix out(1, 1, u.parameters());
  for_each_entry(u.parameters(), [&](std::size_t a, std::size_t b) {
    const std::size_t entry = jet_index(a, b);
    if (b == 0) return out.set(0, 0, 0, f);
    double value = slope * u(entry, 0, 0);
    if (a > 0) value += curvature * u(jet_index(0, a), 0, 0) * u(jet_index(0, b), 0, 0);
    if (value != 0) out.set(entry, 0, 0, value);
  });
  return out;
}
}  // namespace mckean
