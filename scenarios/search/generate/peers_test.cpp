// Scenarios for engines outside the process: nothing that they refuse, everything that they offer,
// and soon what their checkpoints get wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/seam/support.h"
#include "scenarios/seam/testing/peer_capabilities.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {
namespace {

Scenario made(Capabilities const& peer, std::uint64_t index, int size = 100) {
  return generate_scenario(11, index, {.size = size, .faults = true, .capabilities = peer});
}

void expect_supported(Capabilities const& peer) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Scenario const scenario = made(peer, i, static_cast<int>(i % 101));
    auto const refusal = refuse(scenario, peer);
    std::string const text = write_scenario(scenario);
    ASSERT_FALSE(refusal) << refusal->message << text;
    ASSERT_EQ(load_scenario_text(text, "generated.yaml"), scenario) << text;
    ASSERT_LE(scenario.world.rank_count(), peer.ranks_max);
  }
}

TEST(GenerateForPeers, NothingThatTheyRefuse) {
  expect_supported(capable_peer());
  expect_supported(modest_peer());
  expect_supported(peer_with_scales());
  Capabilities changed = capable_peer();
  changed.zero_grad = {ZeroGradKind::zeros};
  changed.loss_scale = {LossScale::Kind::fixed};
  changed.bias_correction = {false};
  changed.set = {"eps", "clip"};
  changed.step_counters = {StepCounter::group};
  expect_supported(changed);
}

TEST(GenerateForPeers, EveryFeatureThatTheyHaveIsSeenAndNoOther) {
  for (Capabilities const& peer : {capable_peer(), modest_peer(), peer_with_scales()}) {
    Distribution seen;
    for (std::uint64_t i = 0; i < 5000; ++i) seen.add(features_of(made(peer, i)));
    FeatureSet const none = lacking(peer);
    for (std::size_t f = 0; f < feature_count; ++f) {
      auto const feature = static_cast<Feature>(f);
      EXPECT_EQ(seen.count(feature) > 0, !has(none, feature)) << peer.engine << label_of(feature);
    }
  }
}

TEST(GenerateForPeers, TypesWithScalesInShapesThatTakeThem) {
  Capabilities const peer = peer_with_scales();
  std::map<ParamType, int> taken;
  std::map<StateScale, int> scales;
  int loads = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Scenario const scenario = made(peer, i);
    Precision const& types = scenario.precision;
    bool const takes_any = std::ranges::any_of(
        scenario.params, [&](Param const& param) { return takes(types.param, param.shape); });
    if (is_quantised(types.param)) taken[types.param] += takes_any ? 1 : 0;
    if (has_scaled_state(types)) ++scales[types.state_scale];
    for (Operation const& operation : scenario.program)
      if (auto const* load = std::get_if<Load>(&operation.action))
        loads += load->types().param && is_quantised(*load->types().param) ? 1 : 0;
  }
  for (ParamType const type : {ParamType::fp8_current, ParamType::mxfp8, ParamType::nvfp4})
    EXPECT_GT(taken[type], 100);
  EXPECT_GT(scales[StateScale::global], 100);
  EXPECT_GT(scales[StateScale::local], 100);
  EXPECT_GT(loads, 30);
}

TEST(GenerateForPeers, OneOptionInFiveIsDrawnAndDefaultsNotWritten) {
  Capabilities const peer = capable_peer();
  std::map<std::string, int> counts;
  constexpr int cases = 3000;
  for (std::uint64_t i = 0; i < cases; ++i) {
    auto const written = made(peer, i).engine.options;
    for (auto const& [name, value] : all_options(peer, {.options = written})) ++counts[value];
    for (auto const& [name, value] : written)
      EXPECT_NE(value, find_option(peer, name)->values.front());
  }
  for (char const* const value : {"foreach", "fused"})
    EXPECT_NEAR(counts[value], cases / 10, cases / 40) << value;
  EXPECT_NEAR(counts["true"], cases / 5, cases / 40);
}

TEST(GenerateForPeers, SizesCostLittle) {
  double ranks = 0;
  double operations = 0;
  std::int64_t largest = 0;
  constexpr int count = 2000;
  for (std::uint64_t i = 0; i < count; ++i) {
    Scenario const scenario = made(capable_peer(), i);
    ranks += static_cast<double>(scenario.world.rank_count()) / count;
    operations += static_cast<double>(operation_count(scenario.program)) / count;
    for (ParameterSpec const& spec : parameter_specs(scenario))
      largest = std::max(largest, spec.numel());
  }
  EXPECT_LT(ranks, 3);
  EXPECT_GT(ranks, 1.8);
  EXPECT_LT(operations, 14);
  EXPECT_LE(largest, 11 * 4 * 4);
}

TEST(GenerateForPeers, CrashesAreCountedInFileOperations) {
  std::set<std::int64_t> seen;
  for (std::uint64_t i = 0; i < 5000; ++i)
    for (Fault const& fault : made(capable_peer(), i).faults)
      if (fault.at == Fault::Where::save) seen.insert(fault.after_bytes.value());
  EXPECT_EQ(seen.size(), 25U);
  EXPECT_EQ(*seen.rbegin(), 24);
}

/// What a program does with checkpoints, as far as defects of optimizers show by it.
struct Reached {
  bool saved_before_any_step = false;
  bool saved_behind_a_missing_gradient = false;
  bool stepped_behind_a_load = false;

  explicit Reached(Scenario const& scenario) {
    bool stepped = false;
    bool missing = false;
    bool loaded = false;
    for (Operation const& operation : scenario.program) {
      Action const& action = operation.action;
      if (auto const* backward = std::get_if<Backward>(&action))
        missing = missing || !backward->without.empty();
      if (std::holds_alternative<Step>(action) || std::holds_alternative<Train>(action)) {
        stepped = true;
        stepped_behind_a_load = stepped_behind_a_load || loaded;
      }
      if (std::holds_alternative<Load>(action)) loaded = true;
      if (!std::holds_alternative<Save>(action)) continue;
      saved_before_any_step = saved_before_any_step || !stepped;
      saved_behind_a_missing_gradient = saved_behind_a_missing_gradient || (stepped && missing);
    }
  }
};

TEST(GenerateForPeers, ProgramsReachWhatCheckpointsGetWrong) {
  int saving = 0;
  int early = 0;
  int missing = 0;
  int going_on = 0;
  int reversed = 0;
  constexpr int cases = 2000;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Scenario const scenario = made(capable_peer(), i);
    FeatureSet const features = features_of(scenario);
    Reached const reached(scenario);
    saving += has(features, Feature::save) ? 1 : 0;
    reversed += has(features, Feature::load_reversed) ? 1 : 0;
    early += reached.saved_before_any_step ? 1 : 0;
    missing += reached.saved_behind_a_missing_gradient ? 1 : 0;
    going_on += reached.stepped_behind_a_load ? 1 : 0;
  }
  EXPECT_NEAR(saving, cases / 2, cases / 10);
  EXPECT_GT(early, cases / 20);
  EXPECT_GT(missing, cases / 40);
  EXPECT_GT(reversed, cases / 20);
  EXPECT_GT(going_on, 3 * saving / 4);
}

}  // namespace
}  // namespace adamant::scenarios
