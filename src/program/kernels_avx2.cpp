#include "program/kernels.inc.hpp"

namespace mckean {
extern constexpr Kernels k_avx2 = avx2::make_kernels("avx2");
}
