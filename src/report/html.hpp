// HTML as text: escaping, numbers that carry their exact value, files to be saved from the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mckean::report {

std::string escaped(std::string_view);  // for text and for quoted attributes

// Six digits to read, and all of them in the attribute `value`, for whoever reads the page by program.
std::string number(double);
std::string short_number(double, int digits = 3);  // text alone: "0.0123", "1.2×10⁸"

std::string paragraph(std::string_view text);   // escaped
std::string code(std::string_view text);        // escaped, in a line
std::string code_block(std::string_view text);  // escaped; scrolls within itself

// A link that saves `text`, which is part of the page, as a file.
std::string download(const std::string& file, const std::string& type, std::string_view text, const std::string& label);

// A table; the first column heads its rows. Cells are HTML.
struct Table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::size_t text_columns = 1;  // how many at the left are words, not numbers
};
std::string to_html(const Table&);

// Rows of numbers as a file; NaN is an empty cell.
std::string csv(const std::vector<std::string>& head, const std::vector<std::vector<double>>& rows);
}  // namespace mckean::report
