#include "scenarios/bugs/weaver/woven_text.h"

#include <gtest/gtest.h>

namespace adamant::bugs {
namespace {

TEST(WovenText, NamesEachChangeOfItsSource) {
  EXPECT_EQ(woven_text({{"a", "x", 1}, {"b", "x", 2}, {"c", "y", 7}, {"d", "x", 3}, {"e", "x", 5}}),
            "#line 1 \"x\"\na\nb\n#line 7 \"y\"\nc\n#line 3 \"x\"\nd\n#line 5 \"x\"\ne\n");
  EXPECT_EQ(woven_text({}), "");
}

TEST(WovenText, HasNoDirectiveInParentheses) {
  EXPECT_EQ(woven_text({{"F(a,", "x", 1}, {"  b,", "y", 7}, {"  c);", "x", 3}, {"d", "x", 4}}),
            "#line 1 \"x\"\nF(a,\n  b,\n  c);\nd\n");
  EXPECT_EQ(woven_text({{"F(a,", "x", 1}, {"  b);", "y", 7}, {"d", "x", 4}}),
            "#line 1 \"x\"\nF(a,\n  b);\n#line 4 \"x\"\nd\n");
}

TEST(WovenText, HasNoDirectiveInWhatSpansLines) {
  EXPECT_EQ(woven_text({{"/* a", "x", 1}, {"b */", "x", 5}, {"c", "x", 6}}),
            "#line 1 \"x\"\n/* a\nb */\n#line 6 \"x\"\nc\n");
  EXPECT_EQ(woven_text({{"R\"(a", "x", 1}, {")\";", "x", 5}}), "#line 1 \"x\"\nR\"(a\n)\";\n");
  EXPECT_EQ(woven_text({{"#define A \\", "x", 1}, {"  b", "x", 5}}),
            "#line 1 \"x\"\n#define A \\\n  b\n");
}

TEST(WovenText, QuotesThePath) {
  EXPECT_EQ(line_directive(3, "a \"b\"\\c"), "#line 3 \"a \\\"b\\\"\\\\c\"\n");
}

}  // namespace
}  // namespace adamant::bugs
