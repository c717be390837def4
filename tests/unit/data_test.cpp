// Observation files: what is read, and what is refused with which words.
#include "mckean/data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bad_text.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

const std::vector<std::string> one{"y"};

std::string message_of(const std::string& text, const std::vector<std::string>& columns = one) {
  try {
    parse_data(text, "f.csv", columns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

struct Good {
  std::string name, text;
  std::vector<double> times, values;
  std::vector<int> lines;
};
void PrintTo(const Good& c, std::ostream* out) { *out << c.name; }

class Accepts : public testing::TestWithParam<Good> {};

TEST_P(Accepts, OneSeries) {
  const Good& c = GetParam();
  const Data data = parse_data(c.text, "f.csv", one);
  EXPECT_EQ(data.source, "f.csv");
  ASSERT_EQ(data.series.size(), 1u);
  const Series& s = data.series[0];
  EXPECT_EQ(s.name, "");
  EXPECT_EQ(s.times, c.times);
  EXPECT_EQ(s.lines, c.lines);
  ASSERT_EQ(s.values.size(), c.values.size());
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    if (std::isnan(c.values[i]))
      EXPECT_TRUE(std::isnan(s.values[i])) << i;
    else
      EXPECT_EQ(s.values[i], c.values[i]) << i;
  }
}

const double nan = std::nan("");

INSTANTIATE_TEST_SUITE_P(
    Data, Accepts,
    testing::Values(Good{"Plain", "t,y\n0,1.5\n1,-2e-3\n", {0, 1}, {1.5, -2e-3}, {2, 3}},
                    Good{"NoFinalNewline", "t,y\n1,2", {1}, {2}, {2}},
                    Good{"Crlf", "t,y\r\n1,2\r\n2,3\r\n", {1, 2}, {2, 3}, {2, 3}},
                    Good{"MixedLineEnds", "t,y\r\n1,2\n2,3\r\n", {1, 2}, {2, 3}, {2, 3}},
                    Good{"ByteOrderMark", "\xEF\xBB\xBFt,y\n1,2\n", {1}, {2}, {2}},
                    Good{"BlankLines", "\n \t\r\nt,y\n\n1,2\n  \n2,3\n\n\n", {1, 2}, {2, 3}, {5, 7}},
                    Good{"Spaces", " t ,\ty\n 1 , \" 2 \" \n", {1}, {2}, {2}},
                    Good{"Quotes", "\"t\",\"y\"\n\"1\",\"2\"\n", {1}, {2}, {2}},
                    Good{"AnyOrderAndExtraColumns", "note,y,t\n\"a, \"\"b\"\"\",2,1\nx,3,2\n", {1, 2}, {2, 3}, {2, 3}},
                    Good{"NewlineInQuotes", "t,y,note\n1,2,\"two\r\nlines\"\n2,3,\n", {1, 2}, {2, 3}, {2, 4}},
                    Good{"NamelessColumns", ",t,y,\n7,1,2,\n8,2,3,\n", {1, 2}, {2, 3}, {2, 3}},
                    Good{"Utf8", "t,y,\u03b8\n1,2,\u00fc\n", {1}, {2}, {2}},
                    Good{"Numbers",
                         "t,y\n0,+1.5\n.5,5.\n1e0,-.25E+1\n2,007\n3,1e-310\n4,0.1\n",
                         {0, 0.5, 1, 2, 3, 4},
                         {1.5, 5, -2.5, 7, 1e-310, 0.1},
                         {2, 3, 4, 5, 6, 7}},
                    Good{"Missing",
                         "t,y\n1,\n2,NA\n3,na\n4,NaN\n5,nan\n6,\"\"\n7,1\n",
                         {1, 2, 3, 4, 5, 6, 7},
                         {nan, nan, nan, nan, nan, nan, 1},
                         {2, 3, 4, 5, 6, 7, 8}}),
    case_name);

TEST(Data, ColumnsComeInTheModelsOrder) {
  const Data data = parse_data("y[2],t,y[1]\n20,0,10\n,1,11\n", "f.csv", {"y[1]", "y[2]"});
  EXPECT_EQ(data.columns, (std::vector<std::string>{"y[1]", "y[2]"}));
  EXPECT_EQ(data.value(0, 0, 0), 10);
  EXPECT_EQ(data.value(0, 0, 1), 20);
  EXPECT_EQ(data.value(0, 1, 0), 11);
  EXPECT_TRUE(std::isnan(data.value(0, 1, 1)));
}

TEST(Data, OneValueAtAllIsEnough) {
  const Data data = parse_data("t,y,z\n1,,\n2,NA,3\n", "f.csv", {"y", "z"});
  EXPECT_EQ(data.value(0, 1, 1), 3);
}

TEST(Data, SeriesMayInterleave) {
  const Data data = parse_data("series,t,y\nb,1,10\n\" a,b \",5,50\nb,2,20\nNA,1,1\n\"a,b\",6,60\n", "f.csv", one);
  ASSERT_EQ(data.series.size(), 3u);
  EXPECT_EQ(data.series[0].name, "b");
  EXPECT_EQ(data.series[1].name, "a,b");
  EXPECT_EQ(data.series[2].name, "NA");
  EXPECT_EQ(data.series[0].times, (std::vector<double>{1, 2}));
  EXPECT_EQ(data.series[0].lines, (std::vector<int>{2, 4}));
  EXPECT_EQ(data.series[1].values, (std::vector<double>{50, 60}));
}

class Refuses : public testing::TestWithParam<Bad> {};

TEST_P(Refuses, WithPlaceCauseAndAdvice) {
  const std::string message = message_of(GetParam().text);
  EXPECT_TRUE(message.starts_with(GetParam().start)) << message;
  EXPECT_NE(message.find(GetParam().also), std::string::npos) << message;
  EXPECT_NE(message.find("; "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Header, Refuses,
    testing::Values(
        Bad{"Empty", "", "f.csv: the file is empty", "header"},
        Bad{"OnlyBlankLines", "\xEF\xBB\xBF \n\n", "f.csv: the file is empty", "header"},
        Bad{"NoRows", "\nt,y\n\n", "f.csv:2: a header without rows", "row"},
        Bad{"NoHeader", "0,1\n1,2\n", "f.csv:1: the first row holds numbers", "such as t,y"},
        Bad{"NoHeaderFirstMissing", "0,NA\n1,2\n", "f.csv:1: the first row holds numbers", "such as t,y"},
        Bad{"NoTime", "x,y\n1,2\n", "f.csv:1: column 't' is missing, the header has 'x', 'y'", "the times"},
        Bad{"TimeInCapitals", "T,y\n1,2\n", "f.csv:1: column 't' is missing", "did you mean 'T'?"},
        Bad{"NoColumn", "t,q\n1,2\n", "f.csv:1: column 'y' is missing, the header has 't', 'q'", "add it"},
        Bad{"SimilarColumn", "t,y1\n1,2\n", "f.csv:1: column 'y' is missing", "did you mean 'y1'?"},
        Bad{"Duplicate", "t,y,y\n1,2,3\n", "f.csv:1: columns 2 and 3 are both named 'y'", "rename"},
        Bad{"DuplicateUnused", "t,a,y,a\n1,2,3,4\n", "f.csv:1: columns 2 and 4 are both named 'a'", "rename"},
        Bad{"DuplicateTime", "t,y,\"t\"\n1,2,3\n", "f.csv:1: columns 1 and 3 are both named 't'", "rename"},
        Bad{"Semicolons", "t;y\n1;2,5\n", "f.csv:1: fields seem to be separated by semicolons", "commas"},
        Bad{"QuotedSemicolons", "\"t\";\"y\"\n", "f.csv:1: fields seem to be separated by semicolons", "commas"},
        Bad{"Tabs", "t\ty\n1\t2\n", "f.csv:1: fields seem to be separated by tabs", "commas"},
        Bad{"QuotedTabs", "\"t\"\t\"y\"\n1\t2\n", "f.csv:1: fields seem to be separated by tabs", "commas"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Rows, Refuses,
    testing::Values(Bad{"TooFew", "t,y\n1,2\n2\n", "f.csv:3: 1 field, but the header has 2", "empty"},
                    Bad{"TooMany", "t,y\n1,2,5\n", "f.csv:2: 3 fields, but the header has 2", "stray commas"},
                    Bad{"OneEmptyQuotedField", "t,y\n\"\"\n1,2\n", "f.csv:2: 1 field, but the header has 2", "empty"},
                    Bad{"NoLabel", "series,t,y\na,1,2\n,2,3\n", "f.csv:3: the series has no label", "'series'"},
                    Bad{"BlankLabel", "series,t,y\n\"  \",2,3\n", "f.csv:2: the series has no label", "'series'"},
                    Bad{"Text", "t,y\n1,abc\n", "f.csv:2: column 'y': 'abc' is not a number", "leave the field empty"},
                    Bad{"Infinity", "t,y\n1,-inf\n", "f.csv:2: column 'y': '-inf' is infinite", "finite"},
                    Bad{"Huge", "t,y\n1,1e309\n", "f.csv:2: column 'y': '1e309' is beyond the range", "finite"},
                    Bad{"DecimalComma", "t,y\n1,\"1,5\"\n", "f.csv:2: column 'y': '1,5' is not a number",
                        "need a point"},
                    Bad{"NothingObserved", "t,y\n1,\n2,NA\n", "f.csv: nothing is observed", "'y'"},
                    Bad{"OnlyUnusedObserved", "t,y,z\n1,,5\n", "f.csv: nothing is observed", "'y'"},
                    Bad{"FirstErrorWins", "t,y\n1,2\n2,abc\n2,\xFF\n", "f.csv:3: column 'y': 'abc'", ""},
                    Bad{"LineAfterQuotedNewline", "t,y,n\n1,2,\"a\n\nb\"\n2,x,\n", "f.csv:5: column 'y': 'x'", ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Times, Refuses,
    testing::Values(Bad{"Missing", "t,y\n,2\n", "f.csv:2: the time is missing (an empty field)", "remove the row"},
                    Bad{"Na", "t,y\nNA,2\n", "f.csv:2: the time is missing ('NA')", "remove the row"},
                    Bad{"Nan", "t,y\nNaN,2\n", "f.csv:2: the time is missing ('NaN')", "remove the row"},
                    Bad{"Negative", "t,y\n-0.5,2\n", "f.csv:2: the time -0.5 is negative", "process starts at t = 0"},
                    Bad{"Infinite", "t,y\ninf,2\n", "f.csv:2: column 't': 'inf' is infinite", "finite"},
                    Bad{"Overflow", "t,y\n1e999,2\n", "f.csv:2: column 't': '1e999' is beyond the range", "finite"},
                    Bad{"Date", "t,y\n2024-01-31,2\n", "f.csv:2: column 't': '2024-01-31' is not a number", "finite"},
                    Bad{"Repeat", "t,y\n1,2\n1.0,3\n", "f.csv:3: the time 1 repeats the time 1 of line 2", "one row"},
                    Bad{"RepeatedZero", "t,y\n0,2\n-0,3\n", "f.csv:3: the time -0 repeats the time 0 of line 2", ""},
                    Bad{"Decrease", "t,y\n1,2\n\n0.5,3\n",
                        "f.csv:4: the time 0.5 comes after the later time 1 of line 2", "column 'series'"},
                    Bad{"LikelySeries", "Series,t,y\na,1,2\nb,1,3\n", "f.csv:3: the time 1 repeats",
                        "rename 'Series' to 'series'"},
                    Bad{"InSeries", "series,t,y\na,3,1\nb,1,1\na,2,1\n",
                        "f.csv:4: the time 2 comes after the later time 3 of line 2 of series 'a'; sort the rows", ""}),
    case_name);

TEST(Data, MessagesShortenAndEscapeWhatTheyQuote) {
  EXPECT_NE(message_of("t,y\n1,\"a\n\x1B[31m\"\n").find("'a\\n<U+001B>[31m' is not"), std::string::npos);
  const std::string message = message_of("t,y\n1," + std::string(100000, 'x'));
  EXPECT_NE(message.find("xxx...'"), std::string::npos);
  EXPECT_LT(message.size(), 250u);
  std::string header = "t";
  for (int i = 0; i < 500; ++i) header += ",c" + std::to_string(i);
  EXPECT_NE(message_of(header + "\n").find("'c10' and 489 more; "), std::string::npos) << message_of(header);
}

TEST(Data, SuggestsOnlyColumnsThatAreNotUsed) {
  EXPECT_EQ(message_of("t,y1\n0,1\n", {"y1", "y2"}).find("did you mean"), std::string::npos);
  EXPECT_NE(message_of("t,y1,Y2\n0,1,2\n", {"y1", "y2"}).find("did you mean 'Y2'?"), std::string::npos);
}

std::string refusal_of(const std::filesystem::path& file) {
  try {
    read_data(file, one);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Data, OfVectors) {
  const Data data = Data::of({0, 1.5}, {1, nan, 3, 4}, {"a", "b"});
  EXPECT_EQ(data.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.value(0, 1, 0), 3);
  EXPECT_EQ(Data::of({2}, {7}).columns, one);
  EXPECT_THROW(Data::of({}, {}), InputError);
  EXPECT_THROW(Data::of({1, 2}, {1}), InputError);
  EXPECT_THROW(Data::of({1, 1}, {1, 2}), InputError);
  EXPECT_THROW(Data::of({-1, 1}, {1, 2}), InputError);
  EXPECT_THROW(Data::of({1, nan}, {1, 2}), InputError);
  EXPECT_THROW(Data::of({1, 2}, {nan, nan}), InputError);
  EXPECT_THROW(Data::of({1, 2}, {1, INFINITY}), InputError);
}

TEST(Data, FilesAreReadOrRefusedWithTheSystemsReason) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "mckean_data_test";
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "f.csv";
  std::string text = "t,y\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + ",1\n";
  std::ofstream(file, std::ios::binary) << text;
  const Data data = read_data(file, one);
  EXPECT_EQ(data.source, file.string());
  EXPECT_EQ(data.series[0].times.size(), 20000u);

  EXPECT_EQ(refusal_of(folder / "none.csv").find((folder / "none.csv").string() + ": cannot be read (No such file"),
            0u);
  EXPECT_NE(refusal_of(folder).find("(Is a directory); "), std::string::npos);
  EXPECT_NE(refusal_of(file / "below").find("(Not a directory); "), std::string::npos);
  std::filesystem::remove_all(folder);
}
}  // namespace
}  // namespace mckean
