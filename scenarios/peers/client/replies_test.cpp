#include "scenarios/peers/client/replies.h"

#include <gtest/gtest.h>

#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;

Json offer(Json const& main, Json const& exp_avg) {
  return {{"param", {"bf16", "nvfp4"}},
          {"grad", {"fp32"}},
          {"main", main},
          {"exp_avg", exp_avg},
          {"exp_avg_sq", {"fp32"}}};
}

PeerReply hello_with(Json const& precisions) {
  return {.json = {{"engine", "stub"},
                   {"arithmetic", "te"},
                   {"options", Json::object()},
                   {"capabilities",
                    {{"layouts", {"fsdp2"}},
                     {"ranks_max", 4},
                     {"replicate_max", 1},
                     {"precisions", precisions},
                     {"own_precision", false},
                     {"gradient_type", "grad"},
                     {"optimizers", {"adamw"}},
                     {"step_counters", {"group"}},
                     {"bias_correction", {true}},
                     {"clip", false},
                     {"loss_scale", {"none"}},
                     {"unscales_in_place", false},
                     {"set", Json::array()},
                     {"gradients", {"exact"}},
                     {"zero_grad", {"none"}},
                     {"save", false},
                     {"load", false},
                     {"loads_in_any_order", false},
                     {"can_crash", false},
                     {"detects_damage", Json::array()},
                     {"local_gradients", false},
                     {"carries_groups", false}}}},
          .where = "a test"};
}

TEST(Hello, OffersNothingThatTheProtocolDoesNotShow) {
  Json const offers = {offer({"none", "fp32", "remainder", "fp16"}, {"fp8", "bf16", "fp16"}),
                       offer({"remainder"}, {"fp32"})};
  auto const kept = replies::capabilities_of(hello_with(offers)).precisions;
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].param, std::vector{ParamType::bf16});
  EXPECT_EQ(kept[0].main, (std::vector{MainType::none, MainType::fp32}));
  EXPECT_EQ(kept[0].exp_avg, std::vector{StateType::bf16});
}

}  // namespace
}  // namespace adamant::scenarios
