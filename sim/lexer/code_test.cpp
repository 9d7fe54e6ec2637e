#include "sim/lexer/code.h"

#include <gtest/gtest.h>

#include <string>

namespace adamant::sim {
namespace {

Code code_of(std::string_view source) {
  return Code(tokenize(source));
}

TEST(Code, HasNeitherBlanksNorCommentsNorDirectives) {
  Code const code = code_of("#include <a>\nint  x; // not y\n/* nor z */");
  ASSERT_EQ(code.size(), 3U);
  EXPECT_TRUE(code.is(1, "x"));
  EXPECT_FALSE(code.is(3, ";"));
}

TEST(Code, ALiteralIsNoNameAndNoMark) {
  Code const code = code_of("\"(\" x 1");
  EXPECT_FALSE(code.is(0, "\"(\""));
  EXPECT_TRUE(code.is_name(1));
  EXPECT_FALSE(code.is_name(2));
}

TEST(Code, OperatorsOfTwoAreOneAnglesAreTwo) {
  Code const code = code_of("a += b && c >> d -> e");
  EXPECT_TRUE(code.is(1, "+="));
  EXPECT_TRUE(code.is(3, "&&"));
  EXPECT_TRUE(code.is(5, ">"));
  EXPECT_TRUE(code.is(6, ">"));
  EXPECT_TRUE(code.is(8, "->"));
}

TEST(Code, BracketsKnowEachOther) {
  Code const code = code_of("f ( a [ 1 ] , { } ) }");
  EXPECT_EQ(code.partner(1), 9U);
  EXPECT_EQ(code.partner(9), 1U);
  EXPECT_EQ(code.partner(3), 5U);
  EXPECT_EQ(code.parent(4), 3U);
  EXPECT_EQ(code.parent(6), 1U);
  EXPECT_EQ(code.after_group(7), 9U);
  EXPECT_EQ(code.partner(10), 10U);  // closes nothing
  EXPECT_EQ(code.parent(0), 0U);
}

TEST(Code, AGroupThatNeverEndsIsTheRest) {
  EXPECT_EQ(code_of("f ( a").after_group(1), 3U);
}

TEST(Code, AnglesAreFoundFromEitherEnd) {
  Code const code = code_of("A < B < ( 1 > 2 ) >> x");
  EXPECT_EQ(code.after_angles(1), 11U);
  EXPECT_EQ(code.opening_angle(10), 1U);
  EXPECT_EQ(code.opening_angle(9), 3U);
}

TEST(Code, AnAngleAloneIsAComparison) {
  EXPECT_EQ(code_of("a < b ; c > d").after_angles(1), 3U);
  EXPECT_EQ(code_of("a < b ; c > d").opening_angle(5), 5U);
  EXPECT_EQ(code_of("a < b").after_angles(1), 3U);
}

}  // namespace
}  // namespace adamant::sim
