// Matrices with first and second derivatives in the parameters, as jet.hpp orders them. An entry without elements is 0.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "engine/jet.hpp"

namespace mckean {

class JetMatrix {
 public:
  JetMatrix() = default;
  JetMatrix(Eigen::Index rows, Eigen::Index columns, std::size_t parameters)
      : rows_(rows), columns_(columns), parameters_(parameters), entries_(jet_size(parameters)) {}
  JetMatrix(const Eigen::MatrixXd& constant, std::size_t parameters)
      : JetMatrix(constant.rows(), constant.cols(), parameters) {
    entries_[0] = constant;
  }

  Eigen::Index rows() const { return rows_; }
  Eigen::Index columns() const { return columns_; }
  std::size_t parameters() const { return parameters_; }

  bool zero(std::size_t entry) const { return entries_[entry].size() == 0; }
  const Eigen::MatrixXd& operator[](std::size_t entry) const { return entries_[entry]; }
  double operator()(std::size_t entry, Eigen::Index i, Eigen::Index j) const {
    return zero(entry) ? 0 : entries_[entry](i, j);
  }
  void set(std::size_t entry, Eigen::Index i, Eigen::Index j, double value);
  void add(std::size_t entry, const Eigen::MatrixXd&);

  JetMatrix transposed() const;
  JetMatrix block(Eigen::Index row, Eigen::Index column, Eigen::Index rows, Eigen::Index columns) const;
  void put(Eigen::Index row, Eigen::Index column, const JetMatrix&);  // where all is 0
  JetMatrix& operator+=(const JetMatrix&);
  JetMatrix& operator*=(double);

 private:
  Eigen::Index rows_ = 0, columns_ = 0;
  std::size_t parameters_ = 0;
  std::vector<Eigen::MatrixXd> entries_;
};

JetMatrix operator*(const JetMatrix&, const JetMatrix&);
JetMatrix scaled(const JetMatrix& number, const JetMatrix&);  // a number times a matrix
inline JetMatrix operator+(JetMatrix a, const JetMatrix& b) { return a += b; }
inline JetMatrix operator*(double factor, JetMatrix a) { return a *= factor; }
inline JetMatrix operator-(JetMatrix a, const JetMatrix& b) { return a += -1 * b; }

// f(u) of a number u, from f, f' and f'' there.
JetMatrix composed(const JetMatrix& u, double f, double slope, double curvature);
inline JetMatrix inverse(const JetMatrix& u) {
  const double v = u(0, 0, 0);
  return composed(u, 1 / v, -1 / (v * v), 2 / (v * v * v));
}
inline JetMatrix log(const JetMatrix& u) {
  const double v = u(0, 0, 0);
  return composed(u, std::log(v), 1 / v, -1 / (v * v));
}
}  // namespace mckean
