// Which components of the state belong together.
#pragma once

#include "problem/blocks.hpp"

namespace mckean {

// In order of their first components; kinds and views are left open. The model's graph may grow.
std::vector<Block> joined_blocks(const Model&);
}  // namespace mckean
