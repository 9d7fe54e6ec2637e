#include "scenarios/bugs/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "scenarios/bugs/selected.h"
#include "scenarios/bugs/selected_in_harness.h"
#include "scenarios/bugs/selection.h"

namespace adamant::bugs {
namespace {

TEST(Catalogue, HasEveryFile) {
  std::set<std::string> files;
  for (auto const& entry : std::filesystem::directory_iterator("scenarios/bugs"))
    if (entry.path().extension() == ".diff") files.insert(entry.path().stem());
  auto const listed = ids();
  EXPECT_EQ(files, std::set<std::string>(listed.begin(), listed.end()));
  EXPECT_GE(files.size(), 160U);
}

TEST(Catalogue, DescribesEachBug) {
  for (Bug const& bug : catalogue()) {
    EXPECT_GT(bug.symptom.size(), 20U) << bug.id;
    EXPECT_TRUE(bug.source == "adamant" || bug.source.starts_with("https://")) << bug.id;
    EXPECT_NE(bug.diff.find("\n--- real/"), std::string_view::npos) << bug.id;
    EXPECT_TRUE(bug.diff.ends_with('\n')) << bug.id;
  }
}

TEST(Catalogue, IsFoundByIdAndSortedByIt) {
  for (Bug const& bug : catalogue()) EXPECT_EQ(find(bug.id), &bug);
  EXPECT_EQ(find("no_such_bug"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(Selection, LastsAsLongAsItLives) {
  EXPECT_EQ(selected_key(), 0U);
  {
    Selection const selection("canary");
    EXPECT_EQ(selected_key(), key_of("canary"));
  }
  EXPECT_EQ(selected_key(), 0U);
  Selection const none("");
  EXPECT_EQ(selected_key(), 0U);
}

TEST(Selection, IsNoMatterOfTheCompiler) {
  static_assert(selected() == 0);
}

TEST(SelectionInHarness, DoesNotMeetTheEngines) {
  constexpr std::size_t place = place_in_harness("sim/a.cpp f");
  Selection const of_engine("canary");
  EXPECT_EQ(selected_in_harness(place), 0U);
  harness.selected = key_of("b");
  EXPECT_EQ(selected_in_harness(place), key_of("b"));
  EXPECT_EQ(selected(), key_of("canary"));
  harness.selected = 0;
  EXPECT_EQ(selected_in_harness(place), 0U);
}

TEST(SelectionInHarness, NotesThePlacesThatRan) {
  constexpr std::size_t place = place_in_harness("sim/a.cpp f");
  constexpr std::size_t other = place_in_harness("sim/a.cpp g");
  static_assert(place != other && selected_in_harness(other) == 0);
  harness.reached.fill(false);
  static_cast<void>(selected_in_harness(place));
  EXPECT_TRUE(harness.reached[place]);
  EXPECT_FALSE(harness.reached[other]);
}

TEST(Selection, TellsAllBugsApart) {
  std::set<std::uint64_t> keys = {0};
  for (Bug const& bug : catalogue()) EXPECT_TRUE(keys.insert(key_of(bug.id)).second) << bug.id;
}

}  // namespace
}  // namespace adamant::bugs
