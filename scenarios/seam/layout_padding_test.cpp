#include "scenarios/seam/layout_padding.h"

#include <gtest/gtest.h>

#include <utility>

namespace adamant::scenarios {
namespace {

Scenario setting(Layout layout, World const& world, std::vector<Param> params) {
  Scenario scenario;
  scenario.layout = layout;
  scenario.world = world;
  scenario.params = std::move(params);
  return scenario;
}

// 35 elements from 0 on and 18 from 40 on, in a buffer whose size is a multiple of 8 a shard.
TEST(LayoutPadding, IsWhatABufferHasBesideItsParameters) {
  auto const padding = [](World const& world) {
    return padding_of(setting(Layout::flat, world,
                              {{.name = "v", .shape = {6, 3}}, {.name = "w", .shape = {7, 5}}}));
  };
  EXPECT_EQ(padding({.shard = 1}), 5 + 6);
  EXPECT_EQ(padding({.shard = 3}), 5 + 14);
  EXPECT_EQ(padding({.shard = 3, .replicate = 2}), 5 + 14);
  EXPECT_EQ(padding({.shard = 3, .replicate = 2, .outer = Outer::optim}), 5 + 38);
}

/// One row that no rank shares with another: every further rank has as much padding.
constexpr std::int64_t row = 1'073'741'827;  // a little more than 2^30

TEST(LayoutPadding, OfMoreThanItCanBeIsRefusedByTheFirstParameterOfItsBuffer) {
  auto const refusal = [](World const& world) {
    Scenario const asked =
        setting(Layout::bucketed, world,
                {{.name = "small", .shape = {2}}, {.name = "h.0.w", .shape = {1, row}}});
    auto const refused = refuse_padding(asked, SourceLine{7});
    EXPECT_EQ(padding_of(asked).has_value(), !refused.has_value());
    return refused;
  };
  EXPECT_FALSE(refusal({.shard = 2}));
  EXPECT_FALSE(refusal({.shard = 2, .replicate = 2}));
  for (World const& world :
       {World{.shard = 3}, World{.shard = 1, .replicate = 3, .outer = Outer::optim}}) {
    auto const refused = refusal(world);
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->id, "unsupported.layout_padding");
    EXPECT_EQ(refused->line, 7);
    EXPECT_NE(refused->message.find("`h.0.w`"), std::string::npos) << refused->message;
  }
}

// Another refusal says that.
TEST(LayoutPadding, OfMoreRanksThanAnIntCountsIsNotAskedFor) {
  EXPECT_FALSE(refuse_padding(setting(Layout::bucketed, {.shard = 1 << 20, .replicate = 1 << 20},
                                      {{.name = "w", .shape = {1, row}}}),
                              SourceLine{7}));
}

}  // namespace
}  // namespace adamant::scenarios
