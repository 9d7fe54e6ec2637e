#include "scenarios/report/words/digits.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

/// The text with what is marked in brackets.
std::string bracketed(MarkedDigits const& digits) {
  std::string text;
  for (std::size_t i = 0; i <= digits.text.size(); ++i) {
    std::string const c = i < digits.text.size() ? std::string(1, digits.text[i]) : "";
    bool const differs = i < digits.differs.size() && digits.differs[i];
    text += differs ? "[" + c + "]" : c;
  }
  return text;
}

std::string faced(std::string const& expected, std::string const& actual) {
  FacingDigits const both = facing(expected, actual);
  return bracketed(both.expected) + " / " + bracketed(both.actual);
}

TEST(Digits, ThatDifferAreMarkedOnBothSides) {
  EXPECT_EQ(faced("0x1.3612fap-21", "0x1.3612fcp-21"), "0x1.3612f[a]p-21 / 0x1.3612f[c]p-21");
  EXPECT_EQ(faced("5.77e-07", "5.78e-07"), "5.7[7]e-07 / 5.7[8]e-07");
  EXPECT_EQ(faced("0x1p-3", "0x1p-3"), "0x1p-3 / 0x1p-3");
}

TEST(Digits, ThatOneSideLacksAreMarkedWhereTheyWouldBe) {
  EXPECT_EQ(faced("0x1.34p-3", "0x1.3p-3"), "0x1.3[4]p-3 / 0x1.3[p]-3");
  EXPECT_EQ(faced("0.5", "0.51"), "0.5[] / 0.5[1]");
}

TEST(Digits, ExponentsAreComparedApartFromWhatStandsBeforeThem) {
  EXPECT_EQ(faced("0x1.2p-3", "0x1.28p-4"), "0x1.2[p]-[3] / 0x1.2[8]p-[4]");
  EXPECT_EQ(faced("1.5", "1.5e-09"), "1.5[] / 1.5[e][-][0][9]");
}

TEST(Digits, PointsStandOneBelowTheOther) {
  EXPECT_EQ(faced("-0x1.2p-3", "0x1.2p-3"), "[-]0x1.2p-3 / [ ]0x1.2p-3");
  EXPECT_EQ(faced("9.75", "10.75"), "[ ][9].75 / [1][0].75");
}

TEST(Digits, OfCodesAreMarkedAsThoseOfNumbers) {
  EXPECT_EQ(faced("code 0x3e", "code 0x3f"), "code 0x3[e] / code 0x3[f]");
}

TEST(Digits, OfWhatIsNoNumberAreLeftAlone) {
  EXPECT_EQ(faced("nan", "0x1p-3"), "nan / 0x1p-3");
  EXPECT_EQ(faced("[0x1p-3, 0x1p-2]", "0x1p-1"), "[0x1p-3, 0x1p-2] / 0x1p-1");
  EXPECT_EQ(faced("rows [0, 2) in fp32", "rows [0, 1) in fp32"),
            "rows [0, 2) in fp32 / rows [0, 1) in fp32");
  EXPECT_EQ(faced("", ""), " / ");
}

}  // namespace
}  // namespace adamant::scenarios
