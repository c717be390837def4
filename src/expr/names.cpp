#include "expr/names.hpp"

#include <algorithm>
#include <utility>

#include "expr/utf8.hpp"

namespace mckean {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (std::size_t pos = 0; pos < text.size();) {
    const auto point = decode_utf8(text, pos);
    out += point ? *point : static_cast<unsigned char>(text[pos++]);
  }
  return out;
}

std::u32string lower(std::u32string text) {
  for (char32_t& c : text)
    if (c >= U'A' && c <= U'Z') c += U'a' - U'A';
  return text;
}

// Damerau-Levenshtein distance, restricted to swaps of neighbours (optimal string alignment):
// d(i,j) = min{ d(i-1,j)+1, d(i,j-1)+1, d(i-1,j-1)+[a_i != b_j], d(i-2,j-2)+1 if a_{i-1}a_i = b_j b_{j-1} }.
std::size_t edit_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}
}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const std::u32string wanted = code_points(name);
  const std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
  std::pair best{limit + 1, std::size_t{0}};  // distance without and with case
  std::string result;
  for (const std::string& candidate : known) {
    const std::u32string letters = code_points(candidate);
    const std::size_t longer = std::max(wanted.size(), letters.size());
    if (longer - std::min(wanted.size(), letters.size()) > limit) continue;
    const std::size_t distance = edit_distance(lower(wanted), lower(letters));
    if (distance >= longer) continue;  // nothing in common
    const std::pair found{distance, edit_distance(wanted, letters)};
    if (found < best) {
      best = found;
      result = candidate;
    }
  }
  return result;
}
}  // namespace mckean
