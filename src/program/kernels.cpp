#include "program/kernels.hpp"

#include <stdexcept>
#include <string>

namespace mckean {

extern const Kernels k_avx512, k_avx2, k_plain;

bool supported(Width width) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  switch (width) {
    case Width::plain:
      return true;
    case Width::avx2:
      return avx2;
    case Width::avx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  }
  return false;
}

const Kernels& kernels(Width width) {
  const Kernels& k = width == Width::avx512 ? k_avx512 : width == Width::avx2 ? k_avx2 : k_plain;
  if (!supported(width)) throw std::invalid_argument(std::string(k.name) + " is not supported by this processor");
  return k;
}

const Kernels& kernels() {
  static const Kernels& widest = kernels(supported(Width::avx512) ? Width::avx512
                                         : supported(Width::avx2) ? Width::avx2
                                                                  : Width::plain);
  return widest;
}
}  // namespace mckean
