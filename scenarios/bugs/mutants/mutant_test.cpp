#include "scenarios/bugs/mutants/mutant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/bugs/weaver/weave.h"

namespace adamant::bugs {
namespace {

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

TEST(Mutants, AllFitWhereTheyWereFound) {
  Target const target("real/step/pair.cpp", source);
  Problems problems;
  Weave weave(target, "pair.cpp");
  for (Mutant const& mutant : mutants_of(target)) weave.add(bug_of(mutant, target), problems);
  EXPECT_TRUE(problems.empty()) << problems.front().message;
}

}  // namespace
}  // namespace adamant::bugs
