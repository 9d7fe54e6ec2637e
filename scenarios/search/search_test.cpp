#include "scenarios/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "scenarios/seam/refusals.h"
#include "scenarios/seam/testing/peer_capabilities.h"
#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {
namespace {

SearchEngine const peer{.name = "exec:./mine", .capabilities = capable_peer()};

TEST(SearchCase, WithoutAnEngineIsOneOfTheSimulator) {
  for (std::uint64_t const index : {0, 50, 400}) {
    Scenario expected = generate_scenario(
        3, index, {.size = static_cast<int>(std::min<std::uint64_t>(index, 100)), .faults = true});
    EXPECT_EQ(search_case(3, index), expected);
    expected.bug = "mean_not_divided";
    EXPECT_EQ(search_case(3, index, "mean_not_divided"), expected);
  }
}

TEST(SearchCase, NamesTheEngineAndKeepsToWhatItCan) {
  int with_options = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    Scenario const scenario = search_case(3, index, {}, peer);
    EXPECT_EQ(scenario.engine.name, "exec:./mine");
    EXPECT_FALSE(refuse(scenario, peer.capabilities)) << index;
    EXPECT_LE(scenario.params.size(), 4U);
    with_options += scenario.engine.options.empty() ? 0 : 1;
  }
  EXPECT_GT(with_options, 100);
}

TEST(SearchCase, OfAnEngineInAProcessOfItsOwnIsSoonOfFullSize) {
  GenerateOptions const full{.params_max = 4,
                             .operations_max = 7,
                             .scenarios_of_model = 16,
                             .faults = true,
                             .capabilities = peer.capabilities};
  for (std::uint64_t const index : {25, 26, 100}) {
    Scenario expected = generate_scenario(3, index, full);
    expected.engine.name = peer.name;
    EXPECT_EQ(search_case(3, index, {}, peer), expected);
  }
  EXPECT_EQ(search_case(3, 0, {}, peer).world.rank_count(), 1);
}

TEST(SearchCase, OfAnEngineInAProcessOfItsOwnSharesItsModelWith15Others) {
  std::vector<Scenario> const models{search_case(3, 32, {}, peer), search_case(3, 48, {}, peer)};
  auto const shapes_of = [](Scenario const& scenario) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (Param const& param : scenario.params)
      if (!param.is_tied()) shapes.push_back(param.shape);
    return shapes;
  };
  EXPECT_NE(shapes_of(models[0]), shapes_of(models[1]));
  std::set<std::uint64_t> seeds;
  for (std::uint64_t index = 32; index < 64; ++index) {
    Scenario const scenario = search_case(3, index, {}, peer);
    Scenario const& model = models[index / 16 - 2];
    EXPECT_EQ(search_row(index, peer), search_row(index / 16 * 16, peer)) << index;
    EXPECT_EQ(scenario.world, model.world) << index;
    EXPECT_EQ(shapes_of(scenario), shapes_of(model)) << index;
    seeds.insert(scenario.seed.value());
  }
  EXPECT_NE(search_row(47, peer), search_row(48, peer));
  EXPECT_NE(search_row(0, peer), search_row(1, peer)) << "those that grow share nothing";
  EXPECT_NE(search_row(24, peer), search_row(25, peer));
  EXPECT_EQ(seeds.size(), 32U);  // of gradients and values, as all else in them
}

/// What the first load of a scenario is on, where that is another world.
std::optional<World> world_of_first_load(Scenario const& scenario) {
  for (Operation const& operation : scenario.program)
    if (auto const* const load = std::get_if<Load>(&operation.action)) return load->world;
  return {};
}

TEST(SearchCase, OfAnEngineInAProcessOfItsOwnHasTheTypesAndTheLoadsOfItsModel) {
  int loads = 0;
  int loads_alike = 0;
  std::set<ParamType> types_of_weights;
  for (std::uint64_t model = 2; model < 42; ++model) {
    // What goes with one loss scale may not with another.
    std::map<LossScale::Kind, Precision> types;
    std::optional<World> world;
    for (std::uint64_t index = model * 16; index < model * 16 + 16; ++index) {
      Scenario const scenario = search_case(3, index, {}, peer);
      Precision recipe = scenario.precision;
      recipe.state_scale = {};  // drawn for each
      auto const first = types.emplace(scenario.optimizer.loss_scale.kind, recipe).first;
      EXPECT_EQ(first->second, recipe) << index;
      types_of_weights.insert(recipe.param);
      auto const other = world_of_first_load(scenario);
      if (!other) continue;
      if (!world) world = other;
      ++loads;
      loads_alike += other == world ? 1 : 0;
    }
  }
  EXPECT_GT(types_of_weights.size(), 1U);
  EXPECT_GT(loads, 100);
  EXPECT_GT(loads_alike, loads * 3 / 4) << "some save again on fewer ranks, which are any";
}

TEST(SearchRepeats, OneCaseIn16UnlessTheEnginePromisesIt) {
  SearchEngine promises = peer;
  promises.capabilities.promises = {Promise::worlds, Promise::repeated};
  int repeated = 0;
  for (std::uint64_t index = 0; index < 160; ++index) {
    repeated += search_repeats(index) ? 1 : 0;
    EXPECT_FALSE(search_repeats(index, promises)) << index;
  }
  EXPECT_EQ(repeated, 10);
}

}  // namespace
}  // namespace adamant::scenarios
