// Matrices with first and second derivatives in the parameters, as jet.hpp orders them. An entry that was never written
// is 0, and costs nothing.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "engine/jet.hpp"

namespace mckean {

class JetMatrix {
 public:
  using Entry = Eigen::Map<const Eigen::MatrixXd>;

  JetMatrix() = default;
  JetMatrix(Eigen::Index rows, Eigen::Index columns, std::size_t parameters)
      : rows_(rows),
        columns_(columns),
        parameters_(parameters),
        elements_(jet_size(parameters) * static_cast<std::size_t>(rows * columns)),
        written_(jet_size(parameters)) {}
  JetMatrix(const Eigen::MatrixXd& constant, std::size_t parameters)
      : JetMatrix(constant.rows(), constant.cols(), parameters) {
    writable(0) = constant;
  }

  Eigen::Index rows() const { return rows_; }
  Eigen::Index columns() const { return columns_; }
  std::size_t parameters() const { return parameters_; }

  bool zero(std::size_t entry) const { return written_[entry] == 0; }
  Entry operator[](std::size_t entry) const { return {at(entry), rows_, columns_}; }
  double operator()(std::size_t entry, Eigen::Index i, Eigen::Index j) const { return at(entry)[i + j * rows_]; }
  void set(std::size_t entry, Eigen::Index i, Eigen::Index j, double value) { writable(entry)(i, j) = value; }
  // The entry from now on counts as written.
  Eigen::Map<Eigen::MatrixXd> writable(std::size_t entry) {
    written_[entry] = 1;
    return {elements_.data() + offset(entry), rows_, columns_};
  }

  JetMatrix transposed() const;
  JetMatrix block(Eigen::Index row, Eigen::Index column, Eigen::Index rows, Eigen::Index columns) const;
  void put(Eigen::Index row, Eigen::Index column, const JetMatrix&);  // where all is 0
  JetMatrix& operator+=(const JetMatrix&);
  JetMatrix& operator*=(double);

 private:
  std::size_t offset(std::size_t entry) const { return entry * static_cast<std::size_t>(rows_ * columns_); }
  const double* at(std::size_t entry) const { return elements_.data() + offset(entry); }

  Eigen::Index rows_ = 0, columns_ = 0;
  std::size_t parameters_ = 0;
  std::vector<double> elements_;
  std::vector<unsigned char> written_;
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
