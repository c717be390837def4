// Other maxima of comparable likelihood: whether two places have a valley between them, and what changes of sign make
// of a maximum.
#pragma once

#include <vector>

#include "infer/search/rounds.hpp"

namespace mckean::search {

// Whether the likelihood falls below `lower`, the height of the lower one, somewhere on the straight way between two
// points. Where it does not, one of them is no maximum. The name is that of the tasks; throws Stopped and OutOfTime, as
// the next one does.
bool valley_between(Evaluations&, const Box&, const Eigen::VectorXd& a, const Eigen::VectorXd& b, const Effort&,
                    double lower, const std::string& name);

// The maximum with the signs of one or two parameters without bounds changed, where that is nearly as high and a valley
// lies between: a model may contain a square, or be seen through an even function.
std::vector<LocalMaximum> mirrored(Evaluations&, const Box&, const Rounds&, double comparable);
}  // namespace mckean::search
