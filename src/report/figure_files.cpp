#include "report/figure_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "mckean/error.hpp"

namespace mckean {

std::string FigureFiles::text(const std::string& name) const {
  if (folder_.empty()) {
    const auto files = embedded_figure_files();
    const auto at = std::ranges::find(files, name, &EmbeddedFile::name);
    if (at == files.end()) throw InputError(fmt::format("{}: the program has no such file; use --config", name));
    return std::string(at->text);
  }
  std::ifstream in(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text)
    throw InputError(
        fmt::format("{}: cannot be read; --config takes a folder with the files of experiments/figures", source(name)));
  return text.str();
}

std::string FigureFiles::source(const std::string& name) const {
  return folder_.empty() ? name : (folder_ / name).string();
}
}  // namespace mckean
