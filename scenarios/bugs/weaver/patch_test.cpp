#include "scenarios/bugs/weaver/patch.h"

#include <gtest/gtest.h>

#include <string>

namespace adamant::bugs {
namespace {

constexpr char patched[] =
    "#include \"a.h\"\n"    // 1
    "\n"                    // 2
    "namespace n {\n"       // 3
    "\n"                    // 4
    "int A::f() {\n"        // 5
    "  first();\n"          // 6
    "  second(1);\n"        // 7
    "  first();\n"          // 8
    "}\n"                   // 9
    "\n"                    // 10
    "int A::f(int x) {\n"   // 11
    "  second(x);\n"        // 12
    "}\n"                   // 13
    "\n"                    // 14
    "}  // namespace n\n";  // 15

/// `text` as a hunk of f.
Hunk hunk_of(std::string const& text) {
  Problems problems;
  BugFile const bug = read_bug_file(
      "b.diff", "id: b\nlaw: l\nsource: s\nsymptom: s\n\n--- real/a.cpp\n" + text, problems);
  EXPECT_TRUE(problems.empty()) << problems.front().message;
  return bug.hunks.front();
}

/// Where the hunk fits, counted from 1, or what is said.
std::string fitted(std::string const& hunk) {
  Target const target("real/a.cpp", patched);
  Problems problems;
  auto const found = fit(hunk_of(hunk), target, "b.diff", problems);
  EXPECT_EQ(found.has_value(), problems.empty());
  if (found) return std::to_string(found->first + 1);
  EXPECT_EQ(problems.size(), 1U);
  return problems.front().file + ":" + std::to_string(problems.front().line) + ": " +
         problems.front().message;
}

TEST(Patch, FitsWhereItsLinesStand) {
  EXPECT_EQ(fitted("@@ A::f\n-  second(1);\n+  third();\n"), "7");
  EXPECT_EQ(fitted("@@ A::f\n-  second(x);\n"), "12") << "of two functions the one that it fits";
  EXPECT_EQ(fitted("@@ A::f\n-  first();\n   second(1);\n"), "6");
  EXPECT_EQ(fitted("@@ A::f\n   second(1);\n-  first();\n"), "7");
  EXPECT_EQ(fitted("@@ f\n int A::f() {\n+  zeroth();\n"), "5");
}

TEST(Patch, WithoutAFunctionAddsBesideIt) {
  EXPECT_EQ(fitted("@@\n #include \"a.h\"\n+#include \"b.h\"\n"), "1");
  EXPECT_EQ(fitted("@@\n \n+int helper();\n int A::f(int x) {\n"), "10");
  EXPECT_EQ(fitted("@@\n+int helper();\n }  // namespace n\n"), "15");
}

TEST(Patch, AmbiguousLinesAreToldWithAllPlaces) {
  EXPECT_EQ(fitted("@@ A::f\n-  first();\n"),
            "b.diff:7: the hunk fits at real/a.cpp:6 and at real/a.cpp:8; give more lines around "
            "the change");
  EXPECT_EQ(fitted("@@ A::f\n }\n+\n"),
            "b.diff:7: the hunk fits at real/a.cpp:9 and at real/a.cpp:13; give more lines around "
            "the change");
}

TEST(Patch, LinesThatAreNotThereAreToldWithTheNearest) {
  EXPECT_EQ(fitted("@@ A::f\n-  second(2);\n"),
            "b.diff:8: expected `  second(2);` in `A::f`, the nearest is real/a.cpp:7 `  "
            "second(1);`");
  EXPECT_EQ(fitted("@@ A::f\n   first();\n   second(1);\n-  third();\n"),
            "b.diff:10: expected `  third();` in `A::f`, the nearest is real/a.cpp:8 `  first();`");
  EXPECT_EQ(fitted("@@ A::f\n-   second(1);\n"),
            "b.diff:8: expected `   second(1);` in `A::f`, the nearest is real/a.cpp:7 `  "
            "second(1);`");
  EXPECT_EQ(fitted("@@\n+int helper();\n }  // namespace m\n"),
            "b.diff:9: expected `}  // namespace m` in real/a.cpp, the nearest is real/a.cpp:15 "
            "`}  // namespace n`");
  EXPECT_EQ(fitted("@@\n }  // namespace n\n+int helper();\n after\n"),
            "b.diff:10: expected `after` in real/a.cpp, the nearest is the end of real/a.cpp");
}

TEST(Patch, LinesOfAnotherFunctionDoNotFit) {
  EXPECT_EQ(fitted("@@ A::f\n   second(x);\n }\n \n-}  // namespace n\n"),
            "b.diff:7: the hunk fits only across the end of `A::f`");
  EXPECT_EQ(fitted("@@\n   second(x);\n+  third();\n"),
            "b.diff:7: the hunk adds lines inside a function at real/a.cpp:12; name the function "
            "after @@");
}

TEST(Patch, AFunctionThatIsNotThereIsToldWithTheNearest) {
  EXPECT_EQ(fitted("@@ A::g\n-  first();\n"),
            "b.diff:7: real/a.cpp defines no function `A::g`; the nearest is `n::A::f` in line 5");
  EXPECT_EQ(fitted("@@ Zebra\n-  first();\n"), "b.diff:7: real/a.cpp defines no function `Zebra`");
}

}  // namespace
}  // namespace adamant::bugs
