// Scenarios for engines outside the process: nothing that they refuse, everything that they offer,
// and soon what their checkpoints get wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "scenarios/language/words.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/seam/refusals.h"
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
  Capabilities mixing = peer_with_scales();
  mixing.own_precision = true;
  expect_supported(mixing);
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

TEST(GenerateForPeers, StatesHaveTheScalesThatAreOffered) {
  Capabilities peer = capable_peer();
  PrecisionOffer plain = peer.precisions.front();
  plain.exp_avg = {StateType::fp16};
  plain.state_scale = {StateScale::none};
  peer.precisions.push_back(plain);
  int narrow = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    Precision const types = made(peer, i).precision;
    if (!has_scalable_state(types)) continue;
    EXPECT_EQ(types.state_scale, StateScale::none);
    ++narrow;
  }
  EXPECT_GT(narrow, 20);
}

TEST(GenerateForPeers, ManyOptionsAreDrawnInHalfOfTheCasesAndDefaultsNotWritten) {
  Capabilities const peer = capable_peer();
  std::map<std::string, int> counts;
  int both = 0;
  constexpr int cases = 3000;
  for (std::uint64_t i = 0; i < cases; ++i) {
    auto const written = made(peer, i).engine.options;
    for (auto const& [name, value] : all_options(peer, {.options = written})) ++counts[value];
    both += std::ssize(written) >= 2 ? 1 : 0;
    for (auto const& [name, value] : written)
      EXPECT_NE(value, find_option(peer, name)->values.front());
  }
  for (char const* const value : {"foreach", "fused"})
    EXPECT_NEAR(counts[value], cases * 3 / 20, cases / 40) << value;
  EXPECT_NEAR(counts["true"], cases * 3 / 10, cases / 40);
  EXPECT_GT(both, cases / 9) << "more than the 9 of 100 that each by itself would come to";
}

TEST(GenerateForPeers, SizesCostLittle) {
  double ranks = 0;
  double operations = 0;
  std::int64_t largest = 0;
  double elements = 0;  // of a parameter
  std::int64_t params = 0;
  constexpr int count = 2000;
  for (std::uint64_t i = 0; i < count; ++i) {
    Scenario const scenario = made(capable_peer(), i);
    ranks += static_cast<double>(scenario.world.rank_count()) / count;
    operations += static_cast<double>(operation_count(scenario.program)) / count;
    for (ParameterSpec const& spec : parameter_specs(scenario)) {
      largest = std::max(largest, spec.numel());
      elements += static_cast<double>(spec.numel());
      ++params;
    }
  }
  elements /= static_cast<double>(params);
  EXPECT_LT(ranks, 3);
  EXPECT_GT(ranks, 1.8);
  EXPECT_LT(operations, 14);
  EXPECT_LE(largest, 11 * 4 * 72);
  EXPECT_GT(largest, 11 * 72);
  EXPECT_LT(elements, 60);
}

TEST(GenerateForPeers, CrashesAreCountedInFileOperations) {
  std::map<std::int64_t, int> seen;
  int crashes = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    for (Fault const& fault : made(capable_peer(), i).faults)
      if (fault.at == Fault::Where::save) ++crashes, ++seen[fault.after_bytes.value()];
  EXPECT_EQ(seen.size(), 33U);
  EXPECT_EQ(seen.rbegin()->first, 32);
  EXPECT_NEAR(seen[0], crashes / 2, crashes / 10) << "the first is as likely as all others";
}

TEST(GenerateForPeers, EveryKindOfDamageIsDoneToEveryFile) {
  Capabilities peer = capable_peer();
  peer.other_damage = {Fault::Then::flip_byte, Fault::Then::stale_file};
  std::map<Fault::Then, int> kinds;
  std::map<std::int64_t, int> files;  // of five
  int damages = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    for (Fault const& fault : made(peer, i).faults) {
      if (fault.at != Fault::Where::load) continue;
      ++damages, ++kinds[fault.then], ++files[fault.file.value() % 5];
    }
  EXPECT_GT(damages, 500);
  for (Fault::Then const kind : {Fault::Then::flip_byte, Fault::Then::truncate,
                                 Fault::Then::remove_file, Fault::Then::stale_file})
    EXPECT_GT(kinds[kind], damages / 20) << word_for(kind);
  for (auto const& [file, count] : files) EXPECT_NEAR(count, damages / 5, damages / 15) << file;
}

TEST(GenerateForPeers, FurtherRunsAreOfThePromisedKinds) {
  Capabilities peer = capable_peer();
  std::map<Promise, int> seen;
  int reversed = 0;
  int through = 0;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    Scenario const scenario = made(peer, i);
    seen[Promise::worlds] += scenario.other_worlds.empty() ? 0 : 1;
    for (Again const& again : scenario.again) {
      ++seen[promise_of(again)];
      through += again.through.empty() ? 0 : 1;
      reversed += again.order == ParamOrder::reversed ? 1 : 0;
    }
  }
  for (Promise const promise : all_promises) EXPECT_GT(seen[promise], 60) << word_for(promise);
  EXPECT_GT(through, 60);
  EXPECT_GT(reversed, 20);
  peer.promises = {Promise::repeated};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Scenario const scenario = made(peer, i);
    EXPECT_TRUE(scenario.other_worlds.empty());
    for (Again const& again : scenario.again) EXPECT_EQ(again, Again{});
  }
}

/// What a program does with checkpoints, as far as defects of optimizers show by it.
struct Reached {
  bool saved_before_any_step = false;
  bool saved_behind_a_missing_gradient = false;
  bool stepped_behind_a_load = false;
  bool saved_over_more_ranks = false;  // and loaded then

  explicit Reached(Scenario const& scenario) {
    bool stepped = false;
    bool missing = false;
    bool loaded = false;
    std::int64_t ranks = scenario.world.rank_count();
    std::map<std::string, std::int64_t> saved_by;
    bool over_more = false;
    for (Operation const& operation : scenario.program) {
      Action const& action = operation.action;
      if (auto const* backward = std::get_if<Backward>(&action))
        missing = missing || !backward->without.empty();
      if (std::holds_alternative<Step>(action) || std::holds_alternative<Train>(action)) {
        stepped = true;
        stepped_behind_a_load = stepped_behind_a_load || loaded;
      }
      if (auto const* load = std::get_if<Load>(&action)) {
        loaded = true;
        saved_over_more_ranks = saved_over_more_ranks || over_more;
        ranks = load->world.value_or(World{.shard = ranks}).rank_count();
      }
      auto const* save = std::get_if<Save>(&action);
      if (save == nullptr) continue;
      over_more = over_more || saved_by[save->checkpoint] > ranks;
      saved_by[save->checkpoint] = ranks;
      saved_before_any_step = saved_before_any_step || !stepped;
      saved_behind_a_missing_gradient = saved_behind_a_missing_gradient || (stepped && missing);
    }
  }
};

TEST(GenerateForPeers, ProgramsReachWhatCheckpointsGetWrong) {
  int saving = 0;
  int early = 0;
  int shrunk = 0;
  int missing = 0;
  int going_on = 0;
  int reversed = 0;
  int anew = 0;
  constexpr int cases = 2000;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Scenario const scenario = made(capable_peer(), i);
    FeatureSet const features = features_of(scenario);
    Reached const reached(scenario);
    saving += has(features, Feature::save) ? 1 : 0;
    reversed += has(features, Feature::load_reversed) ? 1 : 0;
    anew += has(features, Feature::load_anew) ? 1 : 0;
    shrunk += reached.saved_over_more_ranks ? 1 : 0;
    early += reached.saved_before_any_step ? 1 : 0;
    missing += reached.saved_behind_a_missing_gradient ? 1 : 0;
    going_on += reached.stepped_behind_a_load ? 1 : 0;
  }
  EXPECT_NEAR(saving, cases / 2, cases / 10);
  EXPECT_GT(early, 2 * saving / 5);
  EXPECT_GT(shrunk, cases / 40);
  EXPECT_GT(missing, cases / 40);
  EXPECT_GT(reversed, cases / 20);
  EXPECT_GT(anew, cases / 20);
  EXPECT_GT(going_on, 3 * saving / 4);
}

}  // namespace
}  // namespace adamant::scenarios
