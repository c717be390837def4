// A figure of the paper: tables of numbers, how to draw them, and what they show.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/figure_files.hpp"

namespace mckean {

struct FigureTable {
  std::string name, text;  // a CSV file
};

struct Figure {
  std::string name{};                 // "figure-1"
  std::vector<FigureTable> tables{};  // read by the script from its own folder
  std::string script{};               // gnuplot, without terminal and output
  double width = 0, height = 0;       // inches
  std::vector<std::string> text{};    // what it shows, and whether it agrees with the paper
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();  // the numbers of the text
};

struct FigureOptions {
  const FigureFiles& files;
  std::string scale;  // quick or paper
  std::uint64_t seed = 1;
};

// Figure 1: oscillators over time, with the printed sign and with the synchronising one.
Figure kuramoto_figure(const FigureOptions&);
// Figure 2: an activation over time, and histograms of the neurons' weights and biases.
Figure neural_figure(const FigureOptions&);
}  // namespace mckean
