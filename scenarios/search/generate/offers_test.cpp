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
  PrecisionOffer const mixed =
      plain_recipe(ParamType::bf16, {GradType::bf16}, MainType::fp32, StateType::fp16);
  peer.load_precisions->push_back(mixed);
  EXPECT_FALSE(has(lacking(peer), Feature::load_with_other_precision));
  peer.precisions = {mixed};
  peer.load_precisions = peer.precisions;
  EXPECT_TRUE(has(lacking(peer), Feature::load_with_other_precision));
  peer.load_precisions->push_back(
      plain_recipe(ParamType::bf16, {GradType::fp32}, MainType::fp32, StateType::fp32));
  EXPECT_FALSE(has(lacking(peer), Feature::load_with_other_precision));
}

FeatureSet all_of(std::initializer_list<Feature> features) {
  FeatureSet all;
  for (Feature const feature : features) all |= set_of(feature);
  return all;
}

/// What is lacking of files where a change makes an engine able to less.
FeatureSet lacking_of_files(void (*change)(Capabilities&)) {
  Capabilities peer = capable_peer();
  peer.layouts.push_back(Layout::flat);
  FeatureSet const before = lacking(peer);
  change(peer);
  return lacking(peer) & ~before;
}

TEST(Lacking, OfFilesIsWhatOneThingLessTakesAway) {
  FeatureSet const loads =
      all_of({Feature::load, Feature::load_on_other_world, Feature::load_on_other_mesh,
              Feature::load_with_other_layout, Feature::load_reversed, Feature::load_anew,
              Feature::load_with_other_precision, Feature::damage});
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.load = false; }), loads);
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.save = false; }),
            loads | all_of({Feature::save, Feature::save_replaced, Feature::crash}));
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.can_crash = false; }),
            set_of(Feature::crash));
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.loads_in_any_order = false; }),
            set_of(Feature::load_reversed));
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.loads_anew = false; }),
            set_of(Feature::load_anew));
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.layouts.pop_back(); }) &
                all_of({Feature::load_with_other_layout}),
            set_of(Feature::load_with_other_layout));
  EXPECT_EQ(lacking_of_files([](Capabilities& able) { able.detects_damage.clear(); }),
            set_of(Feature::damage));
  EXPECT_EQ(
      lacking_of_files([](Capabilities& able) { able.detects_damage = {Fault::Then::stale_file}; }),
      FeatureSet());
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
