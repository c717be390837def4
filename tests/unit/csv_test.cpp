// Text that is not CSV in UTF-8, and the fields of text that is.
#include "model/csv.hpp"

#include <gtest/gtest.h>

#include "bad_text.hpp"
#include "expr/utf8.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

using std::string_literals::operator""s;

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text) {
  CsvReader reader(text, "f.csv");
  Rows rows;
  for (CsvRow row; reader.next(row);) rows.push_back(row.fields);
  return rows;
}

TEST(Csv, SplitsRecordsIntoFields) {
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("a"), (Rows{{"a"}}));
  EXPECT_EQ(rows_of("a,\n,"), (Rows{{"a", ""}, {"", ""}}));
  EXPECT_EQ(rows_of("\"a,\"\"b\"\"\r\nc\" , d e\t\r\n\r\nf"), (Rows{{"a,\"b\"\r\nc", "d e"}, {"f"}}));
  EXPECT_EQ(rows_of("\"\"\n\"\"\"\""), (Rows{{""}, {"\""}}));
  EXPECT_EQ(rows_of("a,b\n1;2,3\n"), (Rows{{"a", "b"}, {"1;2", "3"}}));
  EXPECT_EQ(rows_of("a\n1;2\n"), (Rows{{"a"}, {"1;2"}}));  // only the header tells the separator
}

TEST(Csv, ReadsNothingBeyondTheText) {
  const std::string_view euro = "\xE2\x82\xAC";
  EXPECT_EQ(rows_of(euro), (Rows{{std::string(euro)}}));
  std::size_t pos = 0;
  EXPECT_FALSE(decode_utf8(euro.substr(0, 2), pos));
  EXPECT_EQ(pos, 0u);
}

class CsvRefuses : public testing::TestWithParam<Bad> {};

TEST_P(CsvRefuses, WithPlaceCauseAndAdvice) {
  try {
    rows_of(GetParam().text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(GetParam().start)) << message;
    EXPECT_NE(message.find(GetParam().also, message.find("; ")), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Encoding, CsvRefuses,
    testing::Values(Bad{"Utf16Little", "\xFF\xFEt\0,\0y\0"s, "f.csv:1: the file is UTF-16", "iconv -f UTF-16 -t UTF-8"},
                    Bad{"Utf16Big", "\xFE\xFF\0t\0,\0y"s, "f.csv:1: the file is UTF-16", "iconv -f UTF-16 -t UTF-8"},
                    Bad{"Latin1", "t,y,n\n1,2,\n2,3,caf\xE9\n", "f.csv:3: the byte 0xE9 is not UTF-8", "iconv"},
                    Bad{"CutUtf8", "t,y,n\n1,2,\xE2\x82", "f.csv:2: the byte 0xE2 is not UTF-8", "iconv"},
                    Bad{"Overlong", "t,y,n\n1,2,\xC0\xAF\n", "f.csv:2: the byte 0xC0 is not UTF-8", "iconv"},
                    Bad{"OverlongThree", "t,y,n\n1,2,\xE0\x80\xAF\n", "f.csv:2: the byte 0xE0 is not UTF-8", "iconv"},
                    Bad{"Surrogate", "t,y,n\n1,2,\xED\xA0\x80\n", "f.csv:2: the byte 0xED is not UTF-8", "iconv"},
                    Bad{"TooLarge", "t,y,n\n1,2,\xF4\x90\x80\x80\n", "f.csv:2: the byte 0xF4 is not UTF-8", "iconv"},
                    Bad{"InQuotes", "t,y,n\n1,2,\"a\nb\xFF\"\n", "f.csv:3: the byte 0xFF is not UTF-8", "iconv"},
                    Bad{"Nul", "t,y\n1,2\n2,\0\n"s, "f.csv:3: a NUL byte", "UTF-8"},
                    Bad{"NulInHeader", "t\0,\0y\0\n\0"s, "f.csv:1: a NUL byte", "UTF-8"},
                    Bad{"CarriageReturns", "t,y\r1,2\r", "f.csv:1: a carriage return without a line feed", "LF"},
                    Bad{"DoubleCarriageReturn", "t,y\n1,2\r\r\n", "f.csv:2: a carriage return", "LF"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Quoting, CsvRefuses,
    testing::Values(
        Bad{"Unterminated", "t,y\n1,2\n2,\"3\n3,4\n", "f.csv:3: the double quote that opens here", "close it"},
        Bad{"UnterminatedAtEnd", "t,y\n1,\"", "f.csv:2: the double quote that opens here", "close it"},
        Bad{"UnterminatedDoubled", "t,y\n1,\"2\"\"\n", "f.csv:2: the double quote that opens here", "close it"},
        Bad{"QuoteInside", "t,y\n1,2\"3\n", "f.csv:2: a double quote in the middle", "whole field"},
        Bad{"TextAfterQuote", "t,y,n\n1,2,\"a\" b\n", "f.csv:2: 'b' follows a closing double quote", "comma"}),
    case_name);
}  // namespace
}  // namespace mckean
