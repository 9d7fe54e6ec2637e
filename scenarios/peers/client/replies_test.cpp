#include "scenarios/peers/client/replies.h"

#include <gtest/gtest.h>

#include "scenarios/peers/client/process.h"
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

PeerReply hello_with(Json const& precisions, char const* arithmetic = "te") {
  return {.json = {{"engine", "stub"},
                   {"arithmetic", arithmetic},
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

TEST(Hello, MayAskForFieldsThatNobodyElseIsTold) {
  PeerReply hello = hello_with(Json::array({offer({"none"}, {"fp32"})}));
  EXPECT_FALSE(replies::capabilities_of(hello).loads_anew);
  hello.json["asks"] = {"keep", "anew"};
  EXPECT_TRUE(replies::capabilities_of(hello).loads_anew);
  hello.json["asks"] = {"new"};
  EXPECT_THROW(replies::capabilities_of(hello), PeerError);
}

TEST(Replies, AFlagIsTrueOrFalseOrLeftOut) {
  PeerReply const reply{.json = {{"yes", true}, {"word", "true"}}, .where = "a test"};
  EXPECT_TRUE(replies::flag_of(reply, "yes"));
  EXPECT_FALSE(replies::flag_of(reply, "left out"));
  EXPECT_THROW(replies::flag_of(reply, "word"), PeerError);
}

TEST(Hello, OffersTypesWithScalesToTheBit) {
  Json const offers =
      Json::array({offer({"none", "fp32", "remainder", "fp16"}, {"fp8", "bf16", "fp16"})});
  auto const kept = replies::capabilities_of(hello_with(offers)).precisions;
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].param, (std::vector{ParamType::bf16, ParamType::nvfp4}));
  EXPECT_EQ(kept[0].main,
            (std::vector{MainType::none, MainType::fp32, MainType::remainder, MainType::fp16}));
  EXPECT_EQ(kept[0].exp_avg, (std::vector{StateType::fp8, StateType::bf16, StateType::fp16}));
}

TEST(Hello, OffersNothingThatItsArithmeticLeavesNobodyToJudge) {
  Json const offers = {offer({"none", "fp32", "remainder", "fp16"}, {"fp8", "bf16", "fp16"}),
                       offer({"remainder"}, {"fp32"})};
  for (char const* const arithmetic : {"torch", "interval"}) {
    auto const kept = replies::capabilities_of(hello_with(offers, arithmetic)).precisions;
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].param, std::vector{ParamType::bf16});
    EXPECT_EQ(kept[0].main, (std::vector{MainType::none, MainType::fp32}));
    EXPECT_EQ(kept[0].exp_avg, std::vector{StateType::bf16});
  }
}

TEST(Hello, OffersPlainNumbersOfSixteenBitsUnderAnyArithmetic) {
  Json plain = offer({"none", "fp16"}, {"fp8", "fp16"});
  plain["state_scale"] = {"global", "none"};
  auto const kept =
      replies::capabilities_of(hello_with(Json::array({plain}), "interval")).precisions;
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].main, (std::vector{MainType::none, MainType::fp16}));
  EXPECT_EQ(kept[0].exp_avg, std::vector{StateType::fp16});
  EXPECT_EQ(kept[0].state_scale, std::vector{StateScale::none});
}

// An engine that says so in its reply to `open` had said at hello that it steps by te.
TEST(Open, MayNotSayAnotherArithmeticWhereBitsAreNeeded) {
  PeerReply const open{.json = {{"arithmetic", "interval"}}, .where = "a test"};
  EXPECT_EQ(replies::arithmetic_of(open, Arithmetic::own_order), Arithmetic::interval);
  EXPECT_THROW(replies::arithmetic_of(open, Arithmetic::own_order, true), PeerError);
  PeerReply const silent{.json = Json::object(), .where = "a test"};
  EXPECT_EQ(replies::arithmetic_of(silent, Arithmetic::own_order, true), Arithmetic::own_order);
}

// It is no finding of the engine's, whatever law it would break.
TEST(Outcomes, OfAnAdapterThatFailsItselfAreNone) {
  Json const failed = {{"outcome", "error"},
                       {"error", {{"type", "adapter"}, {"text", "AttributeError: no x"}}}};
  PeerReply const reply{.json = {{"outcome", "error"}, {"ranks", {failed}}}, .where = "a test"};
  try {
    replies::outcomes_of(reply, 1);
    FAIL() << "it is an outcome";
  } catch (AdapterFailed const& error) {
    EXPECT_EQ(std::string(error.what()),
              "what fails is not the engine but its adapter: AttributeError: no x");
  }
}

TEST(Open, NeedsBitsForWhatIsReadWithMoreThanOneTensor) {
  EXPECT_FALSE(replies::needs_bits({.param = ParamType::bf16, .main = MainType::fp32}));
  EXPECT_TRUE(replies::needs_bits({.param = ParamType::mxfp8, .main = MainType::fp32}));
  EXPECT_TRUE(replies::needs_bits({.param = ParamType::bf16, .main = MainType::remainder}));
  EXPECT_TRUE(replies::needs_bits({.exp_avg_sq = StateType::fp8}));
  EXPECT_TRUE(replies::needs_bits({.exp_avg = StateType::fp16}));
  EXPECT_FALSE(replies::needs_bits({.exp_avg = StateType::fp16, .state_scale = StateScale::none}));
}

}  // namespace
}  // namespace adamant::scenarios
