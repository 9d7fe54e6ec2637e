// Numbers that JSON has not.
#include <gtest/gtest.h>

#include "scenarios/peers/client/client.h"

namespace adamant::scenarios {
namespace {

TEST(BareNumber, IsNamedWithItsPlaceAndWhatToWrite) {
  EXPECT_EQ(bare_number_in(R"({"a": 1, "b": [{"norm": -Infinity}]})"),
            "-Infinity at /b/0/norm: JSON has no such number, write it as \"-inf\"");
  EXPECT_EQ(bare_number_in(R"({"a": NaN})"),
            "NaN at /a: JSON has no such number, write it as \"nan\"");
  EXPECT_EQ(bare_number_in(R"({"a": Infinity})"),
            "Infinity at /a: JSON has no such number, write it as \"inf\"");
}

TEST(BareNumber, WhatATextSaysIsNoNumber) {
  EXPECT_EQ(bare_number_in(R"({"a": "NaN \" NaN", "b": "\\\\"})"), "");
  EXPECT_EQ(bare_number_in(R"({"a": "\\", "b": NaN})"),
            "NaN at /b: JSON has no such number, write it as \"nan\"");
}

TEST(BareNumber, OfWhatIsBrokenOtherwiseNothingIsSaid) {
  EXPECT_EQ(bare_number_in(""), "");
  EXPECT_EQ(bare_number_in("NaN"), "");
  EXPECT_EQ(bare_number_in(R"({"a": NaN)"), "");
  EXPECT_EQ(bare_number_in(R"({"a": "\)"), "");
}

}  // namespace
}  // namespace adamant::scenarios
