#include "scenarios/bugs/weaver/bug_file.h"

#include <gtest/gtest.h>

#include <string>

namespace adamant::bugs {
namespace {

constexpr char header[] = "id: b\nlaw: order.race\nsource: adamant\nsymptom: it is wrong\n\n";
constexpr char hunk[] = "--- real/a.cpp\n@@ f\n-  x();\n";

std::string problems_of(std::string const& text, std::string const& path = "bugs/b.diff") {
  Problems problems;
  read_bug_file(path, text, problems);
  std::string all;
  for (Problem const& problem : problems)
    all += problem.file + ":" + std::to_string(problem.line) + ": " + problem.message + "\n";
  return all;
}

BugFile read(std::string const& text) {
  Problems problems;
  BugFile bug = read_bug_file("bugs/b.diff", text, problems);
  EXPECT_TRUE(problems.empty()) << problems.front().message;
  return bug;
}

TEST(BugFile, SaysWhatTheBugIsAndHowItIsMade) {
  std::string const text =
      "# A word on the report.\n" + std::string(header) +
      "--- real/a.cpp\n@@ A::f\n   keep();\n-  x();\n+  y();\n\n@@\n #include \"a.h\"\n+int g();\n"
      "# Of the second file.\n--- real/b.h\n@@ g\n-  z();\n";
  BugFile const bug = read(text);
  EXPECT_EQ(bug.id, "b");
  EXPECT_EQ(bug.law, "order.race");
  EXPECT_EQ(bug.source, "adamant");
  EXPECT_EQ(bug.symptom, "it is wrong");
  EXPECT_EQ(bug.text, text);
  ASSERT_EQ(bug.hunks.size(), 3U);

  Hunk const& first = bug.hunks[0];
  EXPECT_EQ(first.target, "real/a.cpp");
  EXPECT_EQ(first.function, "A::f");
  EXPECT_EQ(first.line, 8);
  EXPECT_EQ(first.target_line, 7);
  ASSERT_EQ(first.lines.size(), 3U) << "an empty line before @@ belongs to no hunk";
  EXPECT_EQ(first.lines[0].kind, HunkLine::Kind::context);
  EXPECT_EQ(first.lines[0].text, "  keep();");
  EXPECT_EQ(first.lines[1].kind, HunkLine::Kind::removed);
  EXPECT_EQ(first.lines[2].kind, HunkLine::Kind::added);
  EXPECT_EQ(first.lines[2].line, 11);

  EXPECT_EQ(bug.hunks[1].function, "");
  EXPECT_EQ(bug.hunks[2].target, "real/b.h");
  EXPECT_EQ(bug.hunks[2].target_line, 17);
}

TEST(BugFile, AnEmptyLineInAHunkIsContext) {
  BugFile const bug = read(std::string(header) + "--- real/a.cpp\n@@ f\n-  x();\n\n+  y();\n");
  ASSERT_EQ(bug.hunks.front().lines.size(), 3U);
  EXPECT_EQ(bug.hunks.front().lines[1].kind, HunkLine::Kind::context);
}

TEST(BugFile, EveryKeyHasItsPlace) {
  EXPECT_EQ(problems_of(""),
            "bugs/b.diff:1: expected `id: …`, found the end of the file; the header is id, law, "
            "source, symptom, in this order\n");
  EXPECT_EQ(problems_of("id: b\ncolour: red\n"),
            "bugs/b.diff:2: expected `law: …`, found `colour: red`; the header is id, law, source, "
            "symptom, in this order\n");
  EXPECT_EQ(problems_of("law: order.race\nid: b\n").substr(0, 14), "bugs/b.diff:1:");
  EXPECT_EQ(problems_of("id: b\nid: b\n").substr(0, 14), "bugs/b.diff:2:");
  EXPECT_EQ(problems_of("id: b\nlaw: \nsource: adamant\nsymptom: s\n\n" + std::string(hunk)),
            "bugs/b.diff:2: `law` says nothing\n");
  EXPECT_EQ(problems_of("id: b\nlaw: l\nsource: adamant\nsymptom: s\ncolour: red\n"),
            "bugs/b.diff:5: expected an empty line after the header, found `colour: red`\n");
}

TEST(BugFile, IsCalledAsItsId) {
  EXPECT_EQ(problems_of(header + std::string(hunk), "bugs/c.diff"),
            "bugs/c.diff:1: the id is `b` but the file is called `c`; rename one\n");
  EXPECT_EQ(
      problems_of("# why\nid: b-1\nlaw: l\nsource: adamant\nsymptom: s\n\n" + std::string(hunk)),
      "bugs/b.diff:2: `b-1` is no id: use letters, digits and underscores\n");
}

TEST(BugFile, ChangesSomethingOfTheEngine) {
  std::string const start(header);
  EXPECT_EQ(problems_of(start),
            "bugs/b.diff:5: changes nothing: no `--- FILE` with a `@@ FUNCTION` below it\n");
  EXPECT_EQ(problems_of(start + "--- sim/a.cpp\n@@ f\n-  x();\n"),
            "bugs/b.diff:6: expected a file of real/, found `sim/a.cpp`\n");
  EXPECT_EQ(problems_of(start + "--- real/../sim/a.cpp\n@@ f\n-  x();\n"),
            "bugs/b.diff:6: expected a file of real/, found `real/../sim/a.cpp`\n");
  EXPECT_EQ(problems_of(start + "@@ f\n-  x();\n").substr(0, 63),
            "bugs/b.diff:6: no `--- FILE` says which file this is about\nbugs");
  EXPECT_EQ(problems_of(start + "--- real/a.cpp\n-  x();\n" + hunk),
            "bugs/b.diff:7: expected `@@ FUNCTION`, found `-  x();`\n"
            "bugs/b.diff:7: expected `--- FILE` or `@@ FUNCTION`, found `-  x();`\n");
  EXPECT_EQ(problems_of(start + "--- real/a.cpp\n"),
            "bugs/b.diff:7: expected `@@ FUNCTION`, found the end of the file\n"
            "bugs/b.diff:6: changes nothing: no `--- FILE` with a `@@ FUNCTION` below it\n");
}

TEST(BugFile, AHunkChangesSomethingAndSaysWhere) {
  std::string const start = header + std::string("--- real/a.cpp\n");
  EXPECT_EQ(problems_of(start + "@@ f\n"), "bugs/b.diff:7: the hunk changes nothing\n");
  EXPECT_EQ(problems_of(start + "@@ f\n   x();\n"), "bugs/b.diff:7: the hunk changes nothing\n");
  EXPECT_EQ(problems_of(start + "@@ f\n+  x();\n"),
            "bugs/b.diff:7: nothing says where the lines belong: give a line beside them as "
            "context\n");
  EXPECT_EQ(problems_of(start + "@@\n-  x();\n"),
            "bugs/b.diff:7: a hunk outside of functions may only add lines; `@@ FUNCTION` changes "
            "one\n");
  EXPECT_EQ(problems_of(start + "@@ f\n-  x();\n*  y();\n"),
            "bugs/b.diff:9: a line of a hunk begins with a blank, `-` or `+`; found `*  y();`\n");
}

TEST(BugFile, CommentsStandBeforeFilesOnly) {
  EXPECT_EQ(problems_of(header + std::string("--- real/a.cpp\n# why\n@@ f\n-  x();\n")),
            "bugs/b.diff:7: expected `@@ FUNCTION`, found `# why`\n"
            "bugs/b.diff:8: expected `--- FILE` after a comment, found `@@ f`\n");
  EXPECT_EQ(problems_of(header + std::string(hunk) + "# why\n@@ g\n-  x();\n"),
            "bugs/b.diff:10: expected `--- FILE` after a comment, found `@@ g`\n");
}

// Whatever is in a file, reading it ends, and says so in a line.
TEST(BugFile, NothingInItIsTooStrange) {
  std::string const all = header + std::string(hunk) + "# c\n--- real/b.h\n@@\n a\n+b\n";
  for (std::size_t cut = 0; cut < all.size(); ++cut) {
    problems_of(all.substr(0, cut));
    problems_of(all.substr(cut));
    std::string torn = all;
    torn[cut] = '\n';
    problems_of(torn);
    torn[cut] = '\0';
    problems_of(torn);
    torn.insert(cut, "\r\n@@\n---");
    problems_of(torn);
  }
}

}  // namespace
}  // namespace adamant::bugs
