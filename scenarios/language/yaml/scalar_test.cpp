#include "scenarios/language/yaml/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace adamant::scenarios {
namespace {

TEST(Scalar, PlainWordsFollowTheCoreSchema) {
  for (auto const* text : {"", "~", "null", "Null", "NULL"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::null) << text;
  for (auto const* text : {"true", "True", "FALSE"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::boolean) << text;
  for (auto const* text : {"0", "-0", "+12", "007", "0o17", "0x1F", "99999999999999999999"}) {
    EXPECT_EQ(kind_of_plain(text), ScalarKind::integer) << text;
  }
  for (auto const* text :
       {"1e-3", "1.", ".5", "-1.5E+7", ".inf", "-.INF", "+.Inf", ".nan", ".NaN"}) {
    EXPECT_EQ(kind_of_plain(text), ScalarKind::real) << text;
  }
  for (auto const* text :
       {"no", "yes",   "on",   "tRUE", "nULL", "1e",    ".",   "e5",    "1_000", "0b1",       "0o8",
        "0x", "-0x1F", "1:30", "inf",  "nan",  "-.nan", "--1", "1.2.3", "+",     "2024-01-01"}) {
    EXPECT_EQ(kind_of_plain(text), ScalarKind::text) << text;
  }
}

TEST(Scalar, IntegersOfEveryBase) {
  EXPECT_EQ(to_int64("0x1F"), 31);
  EXPECT_EQ(to_int64("0o17"), 15);
  EXPECT_EQ(to_int64("+12"), 12);
  EXPECT_EQ(to_int64("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(to_int64("9223372036854775808"), std::nullopt);
  EXPECT_EQ(to_uint64("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(to_uint64("-1"), std::nullopt);
}

TEST(Scalar, NumbersRoundToBinary64Once) {
  EXPECT_EQ(to_double("1e-3"), 1e-3);
  EXPECT_EQ(to_double(".5"), 0.5);
  EXPECT_EQ(to_double("0x10"), 16.0);
  EXPECT_EQ(to_double("0o10"), 8.0);
  EXPECT_EQ(to_double("1e999"), HUGE_VAL);
  EXPECT_EQ(to_double("-.inf"), -HUGE_VAL);
  EXPECT_EQ(to_double("1e-999"), 0.0);
  EXPECT_TRUE(std::signbit(to_double("-0")));
  EXPECT_TRUE(std::isnan(to_double(".nan")));
}

TEST(Scalar, Binary32ComesByWayOfBinary64) {
  EXPECT_EQ(to_float(0.1), 0.1F);
  EXPECT_EQ(to_float(0.99999999999), 1.0F);
  EXPECT_EQ(to_float(3.4028235677973366e38), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(3.4028235677973360e38), std::numeric_limits<float>::max());
  EXPECT_EQ(to_float(-1e300), -std::numeric_limits<float>::infinity());
  // The decimal lies above the middle of 1 and its successor, but its binary64 is that middle,
  // which goes to even: 1.
  EXPECT_EQ(to_float(to_double("1.00000005960464477540")), 1.0F);
}

TEST(Scalar, WrittenNumbersReadBackAsTheSameBits) {
  EXPECT_EQ(write_number(1e-3F), "0.001");
  EXPECT_EQ(write_number(1.0F), "1");
  EXPECT_EQ(write_number(0.5), "0.5");
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    auto const bits = static_cast<std::uint32_t>(state >> 33U);  // sign 0
    float value = 0;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    auto const text = write_number(value);
    auto const kind = kind_of_plain(text);
    EXPECT_TRUE(kind == ScalarKind::integer || kind == ScalarKind::real) << text;
    EXPECT_EQ(to_float(to_double(text)), value) << text;
  }
}

TEST(Scalar, TextIsQuotedWhereItWouldReadAsSomethingElse) {
  EXPECT_EQ(write_text("a plain name"), "a plain name");
  EXPECT_EQ(write_text("no"), "no");
  for (auto const* text :
       {"true", "1e-3", "null", "", " a", "a ", "a: b", "[", "- a", "a #b", "@x", "5", ".5"}) {
    EXPECT_TRUE(write_text(text).starts_with('"')) << text;
  }
  EXPECT_EQ(write_text("a\"b\\c\nd\x01"), R"("a\"b\\c\nd\x01")");
  EXPECT_EQ(write_text("\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\xC3\xA9"),
            "\"\\x85\\u2028\\ufeff\xC3\xA9\"");
}

}  // namespace
}  // namespace adamant::scenarios
