// Memory for columns: aligned to a cache line, which is also the widest vector.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace mckean {

// Doubles between columns that are used together. Without them columns of a power of two of numbers would lie
// multiples of 4 KB apart, where a processor takes a load for one that depends on a store.
inline constexpr std::size_t kColumnGap = 5 * 8;

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t n) : size_(n), data_(static_cast<double*>(::operator new[](bytes(n), kAlign))) {
    std::memset(data_.get(), 0, bytes(n));
  }
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlign{64};
  static std::size_t bytes(std::size_t n) { return (n + 7) / 8 * 64; }
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, kAlign); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<double[], Free> data_;
};
}  // namespace mckean
