#include "program/kernels.inc.hpp"

namespace mckean {
extern constexpr Kernels k_avx512 = avx512::make_kernels("avx512");
}
