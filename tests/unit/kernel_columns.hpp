// Columns of doubles, and kernels run on them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "program/kernels.hpp"

namespace mckean::test {

template <class T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
  bool operator==(const Aligned&) const { return true; }
};
using Values = std::vector<double, Aligned<double>>;

inline std::vector<Width> supported_widths() {
  std::vector<Width> widths;
  for (Width w : {Width::plain, Width::avx2, Width::avx512})
    if (supported(w)) widths.push_back(w);
  return widths;
}

inline Values padded(Values x) {
  while (x.size() % kLanes != 0) x.push_back(0.5);
  return x;
}

// The first destination, or the second where asked, of a kernel run on columns; missing operands repeat a.
inline Values run(Width w, Instr op, const Values& a, const Values* b = nullptr, const Values* c = nullptr,
                  bool second = false) {
  const Values pa = padded(a), pb = padded(b ? *b : a), pc = padded(c ? *c : a);
  Values d0(pa.size()), d1(pa.size());
  kernels(w).run[static_cast<std::size_t>(op)](d0.data(), d1.data(), {pa.data(), 1}, {pb.data(), 1}, {pc.data(), 1},
                                               pa.size());
  Values& d = second ? d1 : d0;
  d.resize(a.size());
  return d;
}

inline Values run(Width w, Instr op, const Values& a, const Values& b) { return run(w, op, a, &b); }
inline Values run(Width w, Instr op, const Values& a, const Values& b, const Values& c) {
  return run(w, op, a, &b, &c);
}

// All NaNs count as one.
inline bool same_bits(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}
}  // namespace mckean::test
