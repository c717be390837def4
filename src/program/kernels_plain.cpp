#include "program/kernels.inc.hpp"

namespace mckean {
extern constexpr Kernels k_plain = plain::make_kernels("plain");
}
