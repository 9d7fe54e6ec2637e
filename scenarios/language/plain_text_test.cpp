#include "scenarios/language/plain_text.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

TEST(PlainText, SteersNoTerminalAndHidesNothing) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(printable("a\u009b31m"), "a?31m") << "a control sequence in one character";
  EXPECT_EQ(printable("a\x9b"
                      "31m"),
            "a?31m")
      << "the same where a terminal takes bytes";
  EXPECT_EQ(printable("\u202egpj.exe"), "?gpj.exe") << "from right to left";
  EXPECT_EQ(printable("a\u200bb\u2066c\u061cd\ufeff\U000e0041"), "a?b?c?d??");
  EXPECT_EQ(printable("größer … 大 \U0001f600"), "größer … 大 \U0001f600");
  EXPECT_EQ(printable("\xc3"), "?") << "half a character";
  EXPECT_EQ(printable_lines("a\n\tb\r\x1b"), "a\n\tb??");
}

TEST(PlainText, AShellTakesAQuotedWordForOne) {
  EXPECT_EQ(shell_quoted("scenarios/a-b.yaml"), "scenarios/a-b.yaml");
  EXPECT_EQ(shell_quoted("my file's.yaml"), "'my file'\\''s.yaml'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace adamant::scenarios
