// The configuration of the paper's figures: the files of experiments/figures, which the program carries with it, or
// those of a folder.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace mckean {

struct EmbeddedFile {
  std::string_view name, text;
};
std::span<const EmbeddedFile> embedded_figure_files();  // written by CMake

class FigureFiles {
 public:
  // Empty: the files inside the program.
  explicit FigureFiles(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  std::string text(const std::string& name) const;    // throws InputError
  std::string source(const std::string& name) const;  // for messages

 private:
  std::filesystem::path folder_;
};
}  // namespace mckean
