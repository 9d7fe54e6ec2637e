#include "scenarios/bugs/weaver/project.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "real/testing/temporary_directory.h"

namespace adamant::bugs {
namespace {

namespace fs = std::filesystem;

class WovenProject : public testing::Test {
 protected:
  WovenProject() { write("real/a/f.cpp", "int f() {\n  return 1;\n}\n"); }

  void write(std::string const& path, std::string const& text) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }
  std::string read(std::string const& path) const {
    std::ostringstream text;
    text << std::ifstream(root() / path).rdbuf();
    return text.str();
  }
  void write_bug(std::string const& path, std::string const& id, std::string const& hunks) {
    write(path, "id: " + id + "\nlaw: l\nsource: s\nsymptom: a \"b\" \\ c\n\n" + hunks);
    project_.bug_files.push_back((root() / path).string());
  }
  std::string weave() const {
    std::string all;
    for (Problem const& problem : weave_project(project_))
      all += fs::path(problem.file).filename().string() + ":" + std::to_string(problem.line) +
             ": " + problem.message + "\n";
    return all;
  }
  fs::path root() const { return directory_.path(); }

  real::TemporaryDirectory directory_;
  Project project_{.root = root(), .out = root() / "out", .bug_files = {}};
};

constexpr char hunk_of_f[] = "--- real/a/f.cpp\n@@ f\n-  return 1;\n+  return 2;\n";

TEST_F(WovenProject, HasTheFilesThatBugsChangeAndTheCatalogue) {
  write("real/g.cpp", "int g() {\n}\n");
  write_bug("b.diff", "b", hunk_of_f);
  EXPECT_EQ(weave(), "");
  EXPECT_NE(read("out/real/a/f.cpp").find("return 2;"), std::string::npos);
  EXPECT_NE(read("out/real/a/f.cpp").find("#line 3 \"" + (root() / "real/a/f.cpp").string()),
            std::string::npos);
  EXPECT_FALSE(fs::exists(root() / "out/real/g.cpp"));
  EXPECT_NE(read("out/catalogue.cpp").find(R"(.symptom = "a \"b\" \\ c")"), std::string::npos)
      << read("out/catalogue.cpp");
}

TEST_F(WovenProject, LeavesAloneWhatIsRightAndRemovesWhatNoBugChanges) {
  write_bug("b.diff", "b", hunk_of_f);
  EXPECT_EQ(weave(), "");
  fs::path const woven = root() / "out/real/a/f.cpp";
  auto const before = fs::last_write_time(woven) - std::chrono::hours(1);
  fs::last_write_time(woven, before);
  write("out/real/g.cpp", "");
  EXPECT_EQ(weave(), "");
  EXPECT_EQ(fs::last_write_time(woven), before);
  EXPECT_FALSE(fs::exists(root() / "out/real/g.cpp"));

  write("real/a/f.cpp", "int f() {\n  return 1;\n}\n\n");
  EXPECT_EQ(weave(), "");
  EXPECT_NE(fs::last_write_time(woven), before);
}

TEST_F(WovenProject, OfTheHarnessHasACatalogueOfItsOwn) {
  write_bug("b.diff", "b", hunk_of_f);
  EXPECT_EQ(weave(), "");
  EXPECT_NE(read("out/catalogue.cpp").find("> catalogue() {"), std::string::npos);

  write("sim/f.cpp", "int f() {\n  return 1;\n}\n");
  Problems problems;
  std::string const text = "id: c\nlaw: l\nsource: s\nsymptom: s\n\n" + std::string(hunk_of_f);
  BugFile mistake = read_bug_file("c.diff", text, problems);
  mistake.hunks.front().target = "sim/f.cpp";
  write("out/sim/g.cpp", "");
  write("out/scenarios/g.cpp", "");
  EXPECT_TRUE(weave_bugs(project_, {"sim/f.cpp"}, {mistake}).empty());
  EXPECT_NE(read("out/catalogue.cpp").find("> catalogue_of_harness() {"), std::string::npos);
  EXPECT_NE(read("out/sim/f.cpp").find("return 2;"), std::string::npos);
  for (std::string const other : {"out/real/a/f.cpp", "out/sim/g.cpp", "out/scenarios/g.cpp"})
    EXPECT_FALSE(fs::exists(root() / other)) << other;
}

TEST_F(WovenProject, TellsAllThatIsWrongAtOnceAndWritesNothing) {
  write_bug("b.diff", "b", "--- real/a/f.cpp\n@@ f\n-  return 3;\n@@ h\n-  x();\n");
  write_bug("c.diff", "c",
            hunk_of_f + std::string("--- real/z.cpp\n@@ f\n-  x();\n@@ g\n-  y();\n"));
  write_bug("d.diff", "e", hunk_of_f);
  write_bug("more/c.diff", "c", hunk_of_f);
  project_.bug_files.push_back("nowhere.diff");
  EXPECT_EQ(
      weave(),
      "d.diff:1: the id is `e` but the file is called `d`; rename one\n"
      "c.diff:1: `c` is in " +
          (root() / "c.diff").string() +
          " too\n"
          "nowhere.diff:1: cannot be read\n"
          "b.diff:8: expected `  return 3;` in `f`, the nearest is real/a/f.cpp:2 `  return 1;`\n"
          "b.diff:9: real/a/f.cpp defines no function `h`\n"
          "c.diff:10: real/z.cpp cannot be read\n");
  EXPECT_FALSE(fs::exists(root() / "out"));
}

TEST_F(WovenProject, IsOnlyLookedAtWhereNothingIsToBeWritten) {
  write_bug("b.diff", "b", hunk_of_f);
  project_.out.reset();
  EXPECT_EQ(weave(), "");
  EXPECT_FALSE(fs::exists(root() / "out"));
}

TEST_F(WovenProject, SaysWhatItCannotWrite) {
  write_bug("b.diff", "b", hunk_of_f);
  fs::create_directories(root() / "out/catalogue.cpp");
  EXPECT_THROW(weave(), fs::filesystem_error);
  fs::remove_all(root() / "out");
  write("out", "a file where a directory should be");
  EXPECT_THROW(weave(), fs::filesystem_error);
}

}  // namespace
}  // namespace adamant::bugs
