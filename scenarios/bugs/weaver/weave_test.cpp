#include "scenarios/bugs/weaver/weave.h"

#include <gtest/gtest.h>

#include <list>
#include <string>

#include "scenarios/bugs/weaver/lines.h"

namespace adamant::bugs {
namespace {

constexpr char source[] =
    "int a();\n"                        // 1
    "\n"                                // 2
    "int f(int x) {\n"                  // 3
    "  int y = x;\n"                    // 4
    "  y += 1;\n"                       // 5
    "  return call(y,\n"                // 6
    "              x);\n"               // 7
    "}\n"                               // 8
    "\n"                                // 9
    "int g(int x) { return x + 1; }\n"  // 10
    "\n"                                // 11
    "struct S {\n"                      // 12
    "  int h() { return 1; }\n"         // 13
    "  int member = 0;\n"               // 14
    "};\n";                             // 15

class Woven : public testing::Test {
 protected:
  void add(std::string const& id, std::string const& hunks) {
    std::string const header = "id: " + id + "\nlaw: l\nsource: s\nsymptom: s\n\n";
    bugs_.push_back(read_bug_file(id + ".diff", header + "--- real/a.cpp\n" + hunks, problems_));
    weave_.add(bugs_.back(), problems_);
  }
  std::string problem() const {
    if (problems_.empty()) return "";
    EXPECT_EQ(problems_.size(), 1U);
    Problem const& one = problems_.front();
    return one.file + ":" + std::to_string(one.line) + ": " + one.message;
  }
  /// The woven text from the line that begins with `start` on, `count` lines.
  std::string part(std::string const& start, int count) const {
    std::string const text = weave_.text();
    std::string result;
    for (std::string_view const line : lines_of(text)) {
      if (result.empty() && !line.starts_with(start)) continue;
      if (count-- == 0) break;
      result.append(line).append("\n");
    }
    return result;
  }

  Target const target_{"real/a.cpp", source};
  Weave weave_{target_, "/root/real/a.cpp"};
  std::list<BugFile> bugs_;
  Problems problems_;
};

TEST_F(Woven, WithoutBugsIsTheFile) {
  EXPECT_EQ(weave_.text(),
            "#include \"scenarios/bugs/selected.h\"\n#line 1 \"/root/real/a.cpp\"\n" +
                std::string(source));
}

TEST_F(Woven, AFunctionIsASwitchOverItsCopies) {
  add("b", "@@ f\n-  y += 1;\n+  y += 2;\n+  y += 3;\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("int f", 30),
            "int f(int x) {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "switch (::adamant::bugs::selected()) {\n"
            "case ::adamant::bugs::key_of(\"b\"): {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "\n"
            "  int y = x;\n"
            "#line 9 \"b.diff\"\n"
            "  y += 2;\n"
            "  y += 3;\n"
            "#line 6 \"/root/real/a.cpp\"\n"
            "  return call(y,\n"
            "              x);\n"
            "\n"
            "} break;\n"
            "default: {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "\n"
            "  int y = x;\n"
            "  y += 1;\n"
            "  return call(y,\n"
            "              x);\n"
            "\n"
            "}\n"
            "}\n"
            "#line 8 \"/root/real/a.cpp\"\n"
            "}\n"
            "\n"
            "int g(int x) { return x + 1; }\n"
            "\n");
}

TEST_F(Woven, BugsOfOneStatementDoNotMeet) {
  add("b", "@@ f\n-  y += 1;\n+  y += 2;\n");
  add("c", "@@ f\n-  y += 1;\n");
  add("d", "@@ f\n   int y = x;\n+  y += 4;\n   y += 1;\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("case ::adamant::bugs::key_of(\"c\")", 6),
            "case ::adamant::bugs::key_of(\"c\"): {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "\n"
            "  int y = x;\n"
            "#line 6 \"/root/real/a.cpp\"\n"
            "  return call(y,\n");
  EXPECT_EQ(part("case ::adamant::bugs::key_of(\"d\")", 8),
            "case ::adamant::bugs::key_of(\"d\"): {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "\n"
            "  int y = x;\n"
            "#line 9 \"d.diff\"\n"
            "  y += 4;\n"
            "#line 5 \"/root/real/a.cpp\"\n"
            "  y += 1;\n");
}

TEST_F(Woven, SeveralHunksOfABugMakeOneCopy) {
  add("b",
      "@@ f\n   return call(y,\n-              x);\n+              0);\n@@ f\n-  int y = x;\n+  "
      "int y = 0;\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("case", 10),
            "case ::adamant::bugs::key_of(\"b\"): {\n"
            "#line 3 \"/root/real/a.cpp\"\n"
            "\n"
            "#line 13 \"b.diff\"\n"
            "  int y = 0;\n"
            "#line 5 \"/root/real/a.cpp\"\n"
            "  y += 1;\n"
            "  return call(y,\n"
            "              0);\n"
            "\n");
}

TEST_F(Woven, AFunctionInOneLineIsChangedInIt) {
  add("b", "@@ g\n-int g(int x) { return x + 1; }\n+int g(int x) { return x + 2; }\n");
  add("c", "@@ S::h\n-  int h() { return 1; }\n+  int h() { return 2; }\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("int g", 12),
            "int g(int x) {\n"
            "#line 10 \"/root/real/a.cpp\"\n"
            "switch (::adamant::bugs::selected()) {\n"
            "case ::adamant::bugs::key_of(\"b\"): {\n"
            "#line 9 \"b.diff\"\n"
            " return x + 2; \n"
            "} break;\n"
            "default: {\n"
            "#line 10 \"/root/real/a.cpp\"\n"
            " return x + 1; \n"
            "}\n"
            "}\n");
  EXPECT_EQ(part("  int h", 1), "  int h() {\n");
}

TEST_F(Woven, WhatIsAddedOutsideOfFunctionsIsThereForAll) {
  add("b", "@@\n int a();\n+int b();\n \n@@ f\n-  y += 1;\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("int a();", 5),
            "int a();\n#line 9 \"b.diff\"\nint b();\n#line 2 \"/root/real/a.cpp\"\n\n");
}

TEST_F(Woven, TwoBugsThatAddTheSameAddItOnce) {
  add("b", "@@\n int a();\n+int help();\n");
  add("c", "@@\n int a();\n+int help();\n");
  add("d", "@@\n int a();\n+int other();\n");
  add("e", "@@\n   int member = 0;\n+int help();\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("int a();", 7),
            "int a();\n#line 9 \"b.diff\"\nint help();\n#line 2 \"/root/real/a.cpp\"\n"
            "#line 9 \"d.diff\"\nint other();\n#line 2 \"/root/real/a.cpp\"\n");
  EXPECT_EQ(part("  int member", 3), "  int member = 0;\n#line 9 \"e.diff\"\nint help();\n");
}

TEST_F(Woven, WhatIsAddedAtTheEndIsTheLastLine) {
  add("b", "@@\n   int member = 0;\n };\n+int last();\n");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("};", 4), "};\n#line 10 \"b.diff\"\nint last();\n#line 16 \"/root/real/a.cpp\"\n");
}

TEST_F(Woven, ADeclarationMayNotChange) {
  add("b", "@@ f\n-int f(int x) {\n+int f(long x) {\n");
  EXPECT_EQ(problem(),
            "b.diff:7: only what stands between the braces of `f` may change; its declaration may "
            "not");
}

TEST_F(Woven, TheEndOfAFunctionMayNotGo) {
  add("b", "@@ f\n               x);\n-}\n");
  EXPECT_EQ(problem().substr(0, 21), "b.diff:7: only what s");
}

TEST_F(Woven, BracesBalance) {
  add("b", "@@ f\n-  y += 1;\n+  if (y) {\n");
  EXPECT_EQ(problem(), "b.diff:7: with this change the braces of `f` do not balance");
}

TEST_F(Woven, BracesThatCloseWhatTheyDidNotOpenDoNotBalance) {
  add("b", "@@ f\n-  y += 1;\n+} int z() {\n");
  EXPECT_EQ(problem(), "b.diff:7: with this change the braces of `f` do not balance");
}

TEST_F(Woven, HunksOfABugDoNotOverlap) {
  add("b", "@@ f\n   int y = x;\n-  y += 1;\n@@ f\n   y += 1;\n-  return call(y,\n");
  EXPECT_EQ(problem(), "b.diff:10: the hunk overlaps that of line 7; make one of both");
}

TEST_F(Woven, AFileOfTheHarnessAsksForAMistakeOfTheHarness) {
  std::string const text_of_bug =
      "id: b\nlaw: l\nsource: s\nsymptom: s\n\n--- real/a.cpp\n"
      "@@ g\n-int g(int x) { return x + 1; }\n+int g(int x) { return x; }\n";
  for (std::string const file : {"sim/a.cpp", "scenarios/judge/a.cpp"}) {
    Target const target{file, source};
    Weave weave{target, "/root/" + file};
    BugFile bug = read_bug_file("b.diff", text_of_bug, problems_);
    bug.hunks.front().target = file;
    weave.add(bug, problems_);
    EXPECT_EQ(problem(), "");
    std::string const text = weave.text();
    EXPECT_TRUE(text.starts_with("#include \"scenarios/bugs/selected_in_harness.h\"\n")) << text;
    EXPECT_NE(text.find("switch (::adamant::bugs::selected_in_harness("
                        "::adamant::bugs::place_in_harness(\"" +
                        file + " g\"))) {\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("selected()"), std::string::npos) << text;
  }
}

TEST_F(Woven, HunksOfOtherFilesAreNotItsOwn) {
  std::string const text =
      "id: b\nlaw: l\nsource: s\nsymptom: s\n\n--- real/b.cpp\n@@ f\n-  z();\n";
  bugs_.push_back(read_bug_file("b.diff", text, problems_));
  weave_.add(bugs_.back(), problems_);
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(part("switch", 1), "");
}

}  // namespace
}  // namespace adamant::bugs
