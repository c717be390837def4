// The plain implementation behind a plain interface, so that it can be compiled with its own flags.
#pragma once

#include <functional>
#include <vector>

// One coupled iteration (kernel and scores) of the Kuramoto model, to be run as often as one likes.
std::function<void()> plain_iteration(int level, int T, unsigned long M, unsigned long N, const std::vector<double>& y);
