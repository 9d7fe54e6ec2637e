#include "scenarios/language/operations.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

std::vector<Operation> const program = {
    {Load{.from = "b", .world = World{.shard = 3}}},
    {Save{"a"}},
    {Load{.from = "a"}},
    {Save{"b"}},
    {Load{.from = "b"}},
    {Capture{{{Step{}}}}},
};

TEST(Operations, OfAProgramAreThoseOutsideOfCaptures) {
  EXPECT_TRUE((has<Train, Capture>(program)));
  EXPECT_FALSE(has<Step>(program));
  EXPECT_FALSE(has<Train>(program));
}

TEST(Operations, OfOneVerbComeInOrder) {
  std::vector<std::string> loaded;
  for (Load const* load : all<Load>(program)) loaded.push_back(load->from);
  EXPECT_EQ(loaded, (std::vector<std::string>{"b", "a", "b"}));
}

TEST(Operations, ThatLoadMayLeadToLargerWorlds) {
  Scenario scenario;
  scenario.world.shard = 2;
  EXPECT_EQ(most_ranks(scenario), 2);
  scenario.program = program;
  EXPECT_EQ(most_ranks(scenario), 3);
}

TEST(Operations, ThatLoadWhatNoSaveBeforeHasMadeLoadFromOutside) {
  EXPECT_EQ(loaded_from_outside(program), std::set<std::string>{"b"});
}

}  // namespace
}  // namespace adamant::scenarios
