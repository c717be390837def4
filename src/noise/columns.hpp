// Columns of numbers that are used together.
#pragma once

#include <vector>

#include "noise/noise.hpp"
#include "program/aligned.hpp"

namespace mckean {

// Each is padded so that whole tiles of noise fit.
class Columns {
 public:
  Columns() = default;
  Columns(std::size_t columns, std::size_t rows)
      : rows_((rows + kTileSize - 1) / kTileSize * kTileSize),
        stride_(rows_ + kColumnGap),
        memory_(columns * stride_),
        columns_(columns) {}
  double* operator[](std::size_t c) { return memory_.data() + c * stride_; }
  const double* operator[](std::size_t c) const { return memory_.data() + c * stride_; }
  std::size_t count() const { return columns_; }
  std::size_t rows() const { return rows_; }  // with the padding

  // Where each begins.
  void append_to(std::vector<const double*>& pointers) const {
    for (std::size_t c = 0; c < columns_; ++c) pointers.push_back((*this)[c]);
  }
  void append_to(std::vector<double*>& pointers) {
    for (std::size_t c = 0; c < columns_; ++c) pointers.push_back((*this)[c]);
  }

 private:
  std::size_t rows_ = 0, stride_ = 0;
  AlignedBuffer memory_;
  std::size_t columns_ = 0;
};
}  // namespace mckean
