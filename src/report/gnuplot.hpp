// Figures drawn by gnuplot, as a child process.
#pragma once

#include <filesystem>
#include <string>

#include "report/figure.hpp"

namespace mckean {

bool gnuplot_is_installed();

// The script that draws NAME.svg and NAME.pdf in the folder where it stands, beside its tables.
std::string gnuplot_script(const Figure&);

// Runs gnuplot on a script in its folder. Throws RunError with what gnuplot says, or how to install it.
void run_gnuplot(const std::filesystem::path& script);
}  // namespace mckean
