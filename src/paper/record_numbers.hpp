// The fields of a record as numbers. All but NaN and infinities survive being written as decimals, also text.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mckean/tasks.hpp"

namespace mckean {

// FNV-1a.
inline constexpr std::uint32_t kFirstSignature = 2166136261;
constexpr std::uint32_t mixed(std::uint32_t so_far, std::string_view text) {
  for (const char c : text) so_far = (so_far ^ static_cast<unsigned char>(c)) * 16777619u;
  return so_far;
}

// Below 2^53 the number itself; above, −1 minus its upper half, and its lower half.
void write_whole(std::uint64_t, std::vector<double>& to);
void write_text(std::string_view, std::vector<double>& to);

struct BadRow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void refuse_row(const char* why);
[[noreturn]] void refuse_task(const Task&, std::string_view record, const BadRow& why);

// Takes numbers from the front of a row; throws BadRow where they are not what is asked for.
class RowReader {
 public:
  explicit RowReader(std::span<const double> row) : left_(row) {}

  double number();
  bool flag();
  int integer();
  std::uint64_t whole();
  std::size_t length();         // of what needs at least one number for each: never more than there are
  std::pair<int, int> shape();  // rows and columns of a matrix that is there
  std::string text();
  void expect_end() const;

 private:
  std::span<const double> left_;
};
}  // namespace mckean
