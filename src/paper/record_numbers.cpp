#include "paper/record_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mckean/error.hpp"

namespace mckean {
namespace {

constexpr std::uint64_t kExact = std::uint64_t{1} << 53;  // below it a double is an exact integer
constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;
constexpr std::size_t kBytes = 6;  // of text in a number

std::uint64_t whole_below(double v, std::uint64_t end) {
  if (!(v >= 0 && v < static_cast<double>(end)) || v != std::floor(v)) refuse_row("a whole number is not one");
  return static_cast<std::uint64_t>(v);
}
}  // namespace

void write_whole(std::uint64_t v, std::vector<double>& to) {
  if (v < kExact) {
    to.push_back(static_cast<double>(v));
    return;
  }
  to.push_back(-1 - static_cast<double>(v >> 32));
  to.push_back(static_cast<double>(v % kHalf));
}

void write_text(std::string_view text, std::vector<double>& to) {
  write_whole(text.size(), to);
  for (std::size_t at = 0; at < text.size(); at += kBytes) {
    std::uint64_t packed = 0;
    const std::string_view part = text.substr(at, kBytes);
    for (std::size_t i = part.size(); i-- > 0;) packed = packed << 8 | static_cast<unsigned char>(part[i]);
    to.push_back(static_cast<double>(packed));
  }
}

void refuse_row(const char* why) { throw BadRow(why); }

void refuse_task(const Task& task, std::string_view record, const BadRow& why) {
  throw RunError(
      fmt::format("task '{}', number {}: its result cannot be read as '{}', {}; begin the run anew in another folder",
                  task.group, task.index, record, why.what()));
}

double RowReader::number() {
  if (left_.empty()) refuse_row("it ends too early");
  const double out = left_.front();
  left_ = left_.subspan(1);
  return out;
}

bool RowReader::flag() { return whole_below(number(), 2) != 0; }

int RowReader::integer() {
  constexpr double kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
  const double v = number();
  if (!(v >= kLeast && v <= kMost) || v != std::floor(v)) refuse_row("an integer is not one");
  return static_cast<int>(v);
}

std::uint64_t RowReader::whole() {
  const double v = number();
  if (!(v < 0)) return whole_below(v, kExact);
  const std::uint64_t upper = whole_below(-1 - v, kHalf);
  return upper * kHalf + whole_below(number(), kHalf);
}

std::size_t RowReader::length() {
  const std::uint64_t out = whole();
  if (out > left_.size()) refuse_row("it ends too early");
  return out;
}

std::pair<int, int> RowReader::shape() {
  const int rows = integer(), columns = integer();
  if (rows < 0 || columns < 0) refuse_row("a matrix has no size");
  if (static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) > left_.size())
    refuse_row("it ends too early");
  return {rows, columns};
}

std::string RowReader::text() {
  const std::uint64_t size = whole();
  if (size > kBytes * left_.size()) refuse_row("it ends too early");
  std::string out;
  while (out.size() < size) {
    std::uint64_t packed = whole_below(number(), std::uint64_t{1} << 8 * kBytes);
    for (std::size_t i = 0; i < kBytes && out.size() < size; ++i, packed >>= 8) out += static_cast<char>(packed & 255);
    if (packed != 0) refuse_row("a text is longer than it says");
  }
  return out;
}

void RowReader::expect_end() const {
  if (!left_.empty()) refuse_row("there is more than it should hold");
}
}  // namespace mckean
