#include "real/offload/split.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

// 12, 5 and 7 elements.
std::vector<ParameterSpec> three() {
  return {{.name = "a", .shape = {4, 3}}, {.name = "b", .shape = {5}}, {.name = "c", .shape = {7}}};
}

std::vector<std::int64_t> on_host(Split const& split, Layout const& layout) {
  std::vector<std::int64_t> numels;
  for (int p = 0; p < layout.parameter_count(); ++p) {
    EXPECT_EQ(split.device_numel(p) + split.host_numel(p), layout[p].held_numel());
    numels.push_back(split.host_numel(p));
  }
  return numels;
}

TEST(Split, TheLastElementsGoToTheHostAndPartsAreRoundedUp) {
  Layout const layout(three(), {});
  using Numels = std::vector<std::int64_t>;
  EXPECT_EQ(on_host(Split(layout, 0.0), layout), (Numels{0, 0, 0}));
  EXPECT_EQ(on_host(Split(layout, 0.01), layout), (Numels{0, 0, 1}));
  EXPECT_EQ(on_host(Split(layout, 0.5), layout), (Numels{0, 5, 7}));
  EXPECT_EQ(on_host(Split(layout, 0.6), layout), (Numels{3, 5, 7}));
  EXPECT_EQ(on_host(Split(layout, 1.0), layout), (Numels{12, 5, 7}));
}

TEST(Split, CountsTheElementsOfTheShardAlone) {
  Layout const layout(three(), {.rank = 3, .mesh = {.shards = 4}});  // 3, nothing and 1
  EXPECT_EQ(on_host(Split(layout, 0.5), layout), (std::vector<std::int64_t>{1, 0, 1}));
}

TEST(Split, TheDeviceKeepsStatesUpToTheCut) {
  Layout const layout(three(), {});
  TensorKind const kind = TensorKind::exp_avg;
  EXPECT_EQ(Split(layout, 0.0).device_bytes(layout, kind), 48U + 32U + 32U);
  EXPECT_EQ(Split(layout, 0.01).device_bytes(layout, kind), 48U + 32U + 32U);  // 6 of 7, rounded
  EXPECT_EQ(Split(layout, 0.5).device_bytes(layout, kind), 48U);
  EXPECT_EQ(Split(layout, 0.6).device_bytes(layout, kind), 48U);  // 9 of 12
  EXPECT_EQ(Split(layout, 1.0).device_bytes(layout, kind), 0U);
  EXPECT_EQ(Split(layout, 1.0).device_bytes(layout, TensorKind::main), 0U);
}

}  // namespace
}  // namespace adamant::real
