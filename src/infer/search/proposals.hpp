// How particles of a search look ahead.
#pragma once

#include "infer/search/evaluation.hpp"

namespace mckean::search {

// The effort with the best proposal at θ (infer/proposal_choice.hpp), by a few values of each.
Effort with_best_proposal(Evaluations&, const std::string& name, const std::vector<double>& theta, const Effort&);
}  // namespace mckean::search
