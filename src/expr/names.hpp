// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mckean {

// The known name that was probably meant by `name`: the one at smallest edit distance, case ignored (of
// several, the one that also agrees best in case, then the first). Empty when none is within max(1, length/3)
// edits or has anything in common with `name`.
std::string nearest(std::string_view name, const std::vector<std::string>& known);
}  // namespace mckean
