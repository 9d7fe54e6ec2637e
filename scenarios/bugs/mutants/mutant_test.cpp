#include "scenarios/bugs/mutants/mutant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/bugs/weaver/weave.h"

namespace adamant::bugs {
namespace {

namespace fs = std::filesystem;

constexpr char source[] =
    "namespace adamant::real {\n"
    "\n"
    "int Pair::sum(int n) const {\n"
    "  return a_ + n;\n"
    "}\n"
    "\n"
    "int twice(int n) {\n"
    "  int const first = n + n;\n"
    "  return first;\n"
    "}\n"
    "\n"
    "}  // namespace adamant::real\n";

Mutant mutant_of(Target const& target, std::string_view id) {
  std::vector<Mutant> const all = mutants_of(target);
  auto const found = std::ranges::find(all, id, &Mutant::id);
  EXPECT_NE(found, all.end()) << id;
  return found == all.end() ? Mutant() : *found;
}

std::vector<std::string> ids_of(Target const& target) {
  std::vector<std::string> ids;
  for (Mutant const& mutant : mutants_of(target)) ids.push_back(mutant.id);
  return ids;
}

TEST(Mutants, AreNamedAfterOperatorFileFunctionAndLineInIt) {
  Target const target("real/step/pair.cpp", source);
  EXPECT_EQ(mutant_of(target, "plus_minus__pair_cpp__Pair_sum__1").line, 4);
  EXPECT_EQ(mutant_of(target, "plus_minus__pair_cpp__twice__1").line, 8);
}

TEST(Mutants, HaveDistinctIdsAndAreTheSameEachTime) {
  Target const target("real/step/pair.cpp", source);
  std::vector<std::string> ids = ids_of(target);
  EXPECT_EQ(ids_of(target), ids);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(Mutants, KeepTheirIdsWhereLinesAreAddedElsewhere) {
  Target const target("real/step/pair.cpp", source);
  Target const longer("real/step/pair.cpp", "// One more line.\n" + std::string(source));
  EXPECT_EQ(ids_of(longer), ids_of(target));
}

TEST(Mutants, AreBugsThatShowWhatIsChanged) {
  Target const target("real/step/pair.cpp", source);
  BugFile const bug = bug_of(mutant_of(target, "plus_minus__pair_cpp__twice__1"), target);
  EXPECT_EQ(bug.text,
            "id: plus_minus__pair_cpp__twice__1\nlaw: any\nsource: real/step/pair.cpp:8\n"
            "symptom: + for -\n\n--- real/step/pair.cpp\n@@ adamant::real::twice\n"
            "-  int const first = n + n;\n+  int const first = n - n;\n");
}

/// Those that a file lists, one a line and a reason behind it.
std::vector<std::string> ids_listed_in(fs::path const& path) {
  std::vector<std::string> ids;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);)
    if (!line.starts_with('#')) ids.push_back(line.substr(0, line.find(' ')));
  return ids;
}

std::set<std::string> ids_in_folders(std::vector<fs::path> const& folders) {
  std::set<std::string> ids;
  for (fs::path const& folder : folders)
    for (auto const& entry : fs::recursive_directory_iterator(folder)) {
      std::string const file = entry.path().filename().string();
      std::string const ending = entry.path().extension().string();
      if (file.find("_test.") != file.npos ||
          (ending != ".cpp" && ending != ".cu" && ending != ".h"))
        continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      for (std::string& id : ids_of(Target(entry.path().string(), text.str())))
        ids.insert(std::move(id));
    }
  return ids;
}

// An edit of a function gives its mutants other ids.
TEST(Mutants, ThatAreLeftOutAreThere) {
  auto const ids = ids_in_folders(
      {"real", "sim", "scenarios/judge", "scenarios/runner", "scenarios/seam", "scenarios/search"});
  for (char const* const list :
       {"scenarios/bugs/mutants/excluded.txt", "properties/mutants/equivalent.txt"}) {
    std::vector<std::string> const left_out = ids_listed_in(list);
    EXPECT_GE(left_out.size(), 5U) << list;
    for (std::string const& id : left_out) EXPECT_TRUE(ids.contains(id)) << list << ": " << id;
  }
}

TEST(Mutants, AllFitWhereTheyWereFound) {
  Target const target("real/step/pair.cpp", source);
  Problems problems;
  Weave weave(target, "pair.cpp");
  for (Mutant const& mutant : mutants_of(target)) weave.add(bug_of(mutant, target), problems);
  EXPECT_TRUE(problems.empty()) << problems.front().message;
}

}  // namespace
}  // namespace adamant::bugs
