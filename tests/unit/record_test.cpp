// Records of tasks as rows of numbers: every type of field comes back bit by bit, and a row of anything else is
// refused.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <limits>

#include "mckean/error.hpp"
#include "paper/record.hpp"

namespace mckean {
namespace {

struct Part {
  std::string text;
  std::optional<double> value;
};
constexpr auto record_of(const Part*) { return record("part", &Part::text, &Part::value); }

struct Everything {
  double number = 0;
  int integer = 0;
  bool flag = false;
  std::size_t size = 0;
  std::uint64_t whole = 0;
  std::optional<double> present, absent;
  std::optional<std::size_t> which;
  std::string text;
  std::vector<double> values;
  Eigen::VectorXd vector;
  Eigen::MatrixXd matrix;
  std::vector<Part> parts;
  std::vector<std::string> lines;
};
constexpr auto record_of(const Everything*) {
  return record("everything", &Everything::number, &Everything::integer, &Everything::flag, &Everything::size,
                &Everything::whole, &Everything::present, &Everything::absent, &Everything::which, &Everything::text,
                &Everything::values, &Everything::vector, &Everything::matrix, &Everything::parts, &Everything::lines);
}

// As Part, with its fields the other way round; and with another name.
struct Swapped {
  std::optional<double> value;
  std::string text;
};
constexpr auto record_of(const Swapped*) { return record("part", &Swapped::value, &Swapped::text); }
struct Renamed {
  std::string text;
  std::optional<double> value;
};
constexpr auto record_of(const Renamed*) { return record("other", &Renamed::text, &Renamed::value); }

const Task kTask{"some tasks", 7};

std::uint64_t bits(double v) { return std::bit_cast<std::uint64_t>(v); }

Everything filled() {
  Everything e;
  e.number = -0.0, e.integer = std::numeric_limits<int>::min(), e.flag = true, e.size = 12345678901;
  e.whole = std::numeric_limits<std::uint64_t>::max();
  e.present = std::nan("17"), e.which = 0;
  e.text = "θ = ½ ≤ \"x\"\n";
  e.values = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min(), 0.1};
  e.vector = Eigen::VectorXd::LinSpaced(5, 0, 1);
  e.matrix = Eigen::MatrixXd::Constant(2, 3, -std::numeric_limits<double>::infinity());
  e.matrix(0, 2) = 4;
  e.parts = {{"", 1.5}, {"second", {}}};
  e.lines = {"a", "", "seven b"};
  return e;
}

TEST(Record, EveryFieldComesBackBitByBit) {
  const Everything e = filled(), back = unpack<Everything>(pack(e), kTask);
  EXPECT_EQ(bits(back.number), bits(e.number));
  EXPECT_EQ(back.integer, e.integer);
  EXPECT_EQ(back.flag, e.flag);
  EXPECT_EQ(back.size, e.size);
  EXPECT_EQ(back.whole, e.whole);
  ASSERT_TRUE(back.present);
  EXPECT_EQ(bits(*back.present), bits(*e.present));
  EXPECT_FALSE(back.absent);
  EXPECT_EQ(back.which, e.which);
  EXPECT_EQ(back.text, e.text);
  EXPECT_EQ(back.values, e.values);
  EXPECT_EQ(back.vector, e.vector);
  ASSERT_EQ(back.matrix.rows(), 2);
  EXPECT_EQ(back.matrix, e.matrix);
  ASSERT_EQ(back.parts.size(), 2u);
  EXPECT_EQ(back.parts[0].value, 1.5);
  EXPECT_EQ(back.parts[1].text, "second");
  EXPECT_FALSE(back.parts[1].value);
  EXPECT_EQ(back.lines, e.lines);
}

TEST(Record, NothingComesBackAsNothing) {
  const Everything back = unpack<Everything>(pack(Everything{}), kTask);
  EXPECT_TRUE(back.text.empty() && back.values.empty() && back.parts.empty() && back.lines.empty());
  EXPECT_EQ(back.vector.size(), 0);
  EXPECT_EQ(back.matrix.size(), 0);
}

TEST(Record, WholeNumbersNearThePowersOfTwo) {
  for (int k = 0; k < 64; ++k)
    for (const std::uint64_t v : {(std::uint64_t{1} << k) - 1, std::uint64_t{1} << k, (std::uint64_t{1} << k) + 1}) {
      Everything e;
      e.whole = v;
      EXPECT_EQ(unpack<Everything>(pack(e), kTask).whole, v);
    }
}

TEST(Record, TextOfEveryLengthAndByte) {
  std::string text;
  for (int n = 0; n < 300; ++n) {
    EXPECT_EQ(unpack<Part>(pack(Part{text, {}}), kTask).text, text);
    text += static_cast<char>(n * 37 % 256);
  }
}

TEST(Record, ATruncatedRowIsRefused) {
  const auto row = pack(filled());
  for (std::size_t n = 0; n < row.size(); ++n)
    EXPECT_THROW(unpack<Everything>(std::span(row).first(n), kTask), RunError) << n;
}

TEST(Record, ARowWithMoreIsRefused) {
  auto row = pack(filled());
  row.push_back(0);
  EXPECT_THROW(unpack<Everything>(row, kTask), RunError);
}

TEST(Record, ARowOfAnotherKindIsRefused) {
  const Part part{"abc", 2.0};
  EXPECT_THROW(unpack<Everything>(pack(part), kTask), RunError);
  EXPECT_THROW(unpack<Swapped>(pack(part), kTask), RunError);
  EXPECT_THROW(unpack<Renamed>(pack(part), kTask), RunError);
  EXPECT_THROW(unpack<Swapped>(pack(Part{}), kTask), RunError);  // where the numbers alone would do
  try {
    unpack<Part>(std::vector<double>{1, 2, 3}, kTask);
    FAIL() << "a row without a signature was read";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("task 'some tasks', number 7"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("'part'"), std::string::npos) << e.what();
  }
}

// Any one number replaced by a wild one: read as something else or refused, never out of bounds (under sanitizers).
TEST(Record, AnyNumberMayBeWild) {
  const auto row = pack(filled());
  for (std::size_t i = 0; i < row.size(); ++i)
    for (const double wild : {std::nan(""), -1.0, 0.5, 3.0, 1e9, 9e15, 1e300, -1e18, -4294967296.0}) {
      auto hurt = row;
      hurt[i] = wild;
      try {
        unpack<Everything>(hurt, kTask);
      } catch (const RunError&) {
        SUCCEED();
      }
    }
}

struct Inline : TaskRunner {
  std::vector<std::vector<double>> run(std::span<const Task> tasks, const TaskFunction& f) override {
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < tasks.size(); ++i) out.push_back(f(i, {}));
    return out;
  }
};

TEST(Record, TasksReturnThem) {
  Inline runner;
  const std::vector<Task> tasks(3, kTask);
  const auto parts = run_records(runner, tasks, [](std::size_t i, const std::stop_token&) {
    return Part{"p", static_cast<double>(i)};
  });
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[2].value, 2.0);
}
}  // namespace
}  // namespace mckean
