// Whether a filter's particles should look ahead, by what the likelihood says.
#pragma once

#include "infer/search/evaluation.hpp"

namespace mckean::search {

// log p̂ errs downwards: of proposals with equal work, that with the largest mean is the best. The effort with that
// proposal; as it is where its values have little noise.
Effort with_best_proposal(Evaluations&, const std::string& name, const std::vector<double>& theta, const Effort&);
}  // namespace mckean::search
