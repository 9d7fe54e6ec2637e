#include "scenarios/search/generate/offers.h"

#include <gtest/gtest.h>

#include "scenarios/seam/testing/peer_capabilities.h"

namespace adamant::scenarios {
namespace {

TEST(Lacking, InTheSimulatorIsWhatOtherEnginesBring) {
  EXPECT_EQ(lacking(capabilities_of_simulation()), set_of(Feature::engine_option) |
                                                       set_of(Feature::several_worlds) |
                                                       set_of(Feature::again));
}

TEST(Lacking, FollowsWhatIsOffered) {
  FeatureSet const capable = lacking(capable_peer());
  for (Feature const feature :
       {Feature::replicated, Feature::load_reversed, Feature::load_with_other_precision,
        Feature::engine_option, Feature::crash, Feature::damage, Feature::weights_fp16,
        Feature::moments_bf16, Feature::counter_per_parameter})
    EXPECT_FALSE(has(capable, feature)) << label_of(feature);
  for (Feature const feature : {Feature::own_precision, Feature::capture, Feature::hybrid,
                                Feature::cast_copy, Feature::schedule_pct, Feature::out_of_memory,
                                Feature::no_bias_correction, Feature::load_with_other_offload})
    EXPECT_TRUE(has(capable, feature)) << label_of(feature);
  FeatureSet const modest = lacking(modest_peer());
  for (Feature const feature :
       {Feature::more_than_four_ranks, Feature::empty_tensor, Feature::save, Feature::load,
        Feature::load_on_other_world, Feature::crash, Feature::clip, Feature::gradients_wild,
        Feature::zero_grad_keeps, Feature::loss_scale_rounds, Feature::engine_option})
    EXPECT_TRUE(has(modest, feature)) << label_of(feature);
  for (Feature const feature : {Feature::adam_l2, Feature::set, Feature::train})
    EXPECT_FALSE(has(modest, feature)) << label_of(feature);
}

TEST(Lacking, IsAnotherTypeOfLoadsWhereThereIsOne) {
  Capabilities peer = capable_peer();
  peer.precisions = {
      plain_recipe(ParamType::fp32, {GradType::fp32}, MainType::none, StateType::fp32)};
  peer.load_precisions = peer.precisions;
  EXPECT_TRUE(has(lacking(peer), Feature::load_with_other_precision));
  peer.load_precisions->push_back(
      plain_recipe(ParamType::bf16, {GradType::fp32}, MainType::fp32, StateType::fp32));
  EXPECT_FALSE(has(lacking(peer), Feature::load_with_other_precision));
}

TEST(Recipes, OfTwoOffersAlikeAreThereOnce) {
  PrecisionOffer const offer =
      plain_recipe(ParamType::fp32, {GradType::fp32}, MainType::none, StateType::fp32);
  EXPECT_EQ(recipes({offer, offer}), recipes({offer}));
}

TEST(Recipes, AreEachThereOnceAndNeverInConflict) {
  auto const all = recipes(capable_peer().precisions);
  EXPECT_EQ(all.size(), 8U);
  EXPECT_EQ(all.front(), Precision{});
  auto twice = capable_peer().precisions;
  twice.insert(twice.end(), twice.begin(), twice.end());
  EXPECT_EQ(recipes(twice), all);
  // Of pairs of parameter and main weight 8 stand together.
  EXPECT_EQ(recipes(capabilities_of_simulation().precisions).size(), 13U * 3U * 16U);
}

TEST(Recipes, OfLoadsAreThoseOfWorldsAndMore) {
  Capabilities const simulation = capabilities_of_simulation();
  EXPECT_EQ(load_recipes(simulation), recipes(simulation.precisions));
  Capabilities peer = capable_peer();
  EXPECT_EQ(load_recipes(peer), recipes(peer.precisions));
  peer.load_precisions = {
      plain_recipe(ParamType::bf16, {GradType::bf16}, MainType::none, StateType::fp32)};
  EXPECT_EQ(load_recipes(peer).size(), 9U);
}

TEST(DamageKinds, AreThoseThatTheEnginePromisesToNoticeOrIsHeldTo) {
  Capabilities peer = capable_peer();
  EXPECT_EQ(damage_kinds(peer), (std::vector{Fault::Then::truncate, Fault::Then::remove_file}));
  EXPECT_TRUE(damage_kinds(modest_peer()).empty());
  peer.other_damage = {Fault::Then::stale_file, Fault::Then::flip_byte};
  EXPECT_EQ(damage_kinds(peer),
            (std::vector{Fault::Then::flip_byte, Fault::Then::truncate, Fault::Then::remove_file}));
}

}  // namespace
}  // namespace adamant::scenarios
