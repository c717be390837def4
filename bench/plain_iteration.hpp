// The plain implementation behind a plain interface, so that it can be compiled with its own flags.
#pragma once

#include <vector>

// Seconds of one coupled iteration (kernel and scores) of the Kuramoto model.
double plain_iteration_seconds(int level, int T, unsigned long M, unsigned long N, const std::vector<double>& y);
