#include "scenarios/judge/registration.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::scenarios {
namespace {

std::vector<ParameterSpec> two_units() {
  return {{.name = "a", .shape = {4, 5}, .unit = 0},
          {.name = "b", .shape = {4, 3}, .unit = 0},
          {.name = "c", .shape = {3}, .unit = 1}};
}

TEST(Registration, ReversedItBeginsWithTheLastUnit) {
  auto const reversed = as_registered(two_units(), ParamOrder::reversed);
  EXPECT_EQ(reversed[0].name, "c");
  EXPECT_EQ(reversed[0].unit, 0);
  EXPECT_EQ(reversed[2].name, "a");
  EXPECT_EQ(reversed[2].unit, 1);
  EXPECT_EQ(as_registered(two_units(), ParamOrder::listed), two_units());
}

// A buffer begins with what was registered last: b, or reversed a, whose 20 elements put b at 24.
TEST(Registration, LayoutsFollowItAndNumbersDoNot) {
  Scenario setting;
  setting.layout = LayoutKind::flat;
  setting.world = {.shard = 3, .replicate = 1, .outer = Outer::none};  // of 16 elements each
  auto const held = [&](int parameter, int rank) {
    return layout_of(setting, two_units()).ranges(parameter, rank, TensorKind::main).front();
  };
  EXPECT_EQ(held(0, 1), (ElementRange{0, 16}));
  EXPECT_EQ(held(1, 1), (ElementRange{12, 12}));
  setting.order = ParamOrder::reversed;
  EXPECT_EQ(held(0, 1), (ElementRange{16, 20}));
  EXPECT_EQ(held(1, 1), (ElementRange{0, 8}));
  EXPECT_EQ(held(2, 0), (ElementRange{0, 3}));
  setting.world = {.shard = 1, .replicate = 3, .outer = Outer::optim};
  EXPECT_EQ(held(1, 1), (ElementRange{0, 8}));
}

}  // namespace
}  // namespace adamant::scenarios
