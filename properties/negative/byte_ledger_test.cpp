// Bytes of a model that no run here could hold: simulated ranks allocate Llama 3 8B, page by page
// unused, and have byte for byte what the oracle counts. The near miss is the engine that keeps a
// second main weight.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "scenarios/bugs/selection.h"
#include "scenarios/engines/door.h"
#include "scenarios/judge/budgets.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/seam/memory.h"
#include "sim/sim.h"

namespace adamant::properties {
namespace {

using scenarios::BytesByPurpose;
using scenarios::EngineDoor;
using scenarios::LiveBytes;
using scenarios::Scenario;

Scenario ledger() {
  return scenarios::load_scenario_file("properties/ledger/llama_3_8b.yaml");
}

/// Nobody computes.
class NoGradients final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const&) override { ADD_FAILURE() << "a backward"; }
};

real::EngineConfig config_of(Scenario const& scenario, int rank) {
  real::EngineConfig config;
  config.rank = config.device = rank;
  config.mesh = mesh_of(scenario.world);
  config.layout = scenario.layout;
  config.parameters = parameter_specs(scenario);
  config.groups = adam_configs(scenario);
  config.microbatches = static_cast<int>(scenario.microbatch_count());
  config.loss_scale = scenario.optimizer.loss_scale;
  config.max_norm = scenario.optimizer.clip;
  return config;
}

void add(std::vector<BytesByPurpose>& to, int rank, real::Buffer const& buffer) {
  LiveBytes& bytes = to[static_cast<std::size_t>(rank)][static_cast<std::size_t>(buffer.purpose)];
  (buffer.on_host ? bytes.pinned : bytes.device) += static_cast<std::int64_t>(buffer.bytes);
}

/// What each rank's engine has once it is made, which is also what is allocated.
std::vector<BytesByPurpose> allocated_by(EngineDoor const& door, Scenario const& scenario) {
  int const ranks = static_cast<int>(scenario.world.rank_count());
  std::vector<BytesByPurpose> listed(static_cast<std::size_t>(ranks));
  std::vector<LiveBytes> live(static_cast<std::size_t>(ranks));
  ncclUniqueId id = {};
  sim::Options options;
  options.checked = false;
  options.one_process = true;
  options.device_bytes = std::size_t{80} << 30;
  sim::Report const report = sim::run(
      ranks,
      [&](int rank) {
        NoGradients gradients;
        if (rank == 0) id = door.make_nccl_id();
        sim::barrier();
        real::EngineConfig config = config_of(scenario, rank);
        config.nccl_id = id;
        auto const engine = door.make_engine(config, gradients);
        engine->synchronize();
        for (real::Buffer const& buffer : engine->buffers()) add(listed, rank, buffer);
        sim::meet([&] {
          for (sim::LiveAllocation const& allocation : sim::live_allocations())
            (allocation.on_host ? live[static_cast<std::size_t>(allocation.rank)].pinned
                                : live[static_cast<std::size_t>(allocation.rank)].device) +=
                static_cast<std::int64_t>(allocation.bytes);
        });
      },
      options);
  EXPECT_TRUE(report.ok()) << sim::describe(report);
  for (std::size_t rank = 0; rank < live.size(); ++rank)
    EXPECT_EQ(live[rank], scenarios::sum_of(listed[rank])) << rank;
  return listed;
}

std::vector<BytesByPurpose> counted_by_oracle(Scenario const& scenario) {
  std::vector<int> ranks(static_cast<std::size_t>(scenario.world.rank_count()));
  std::iota(ranks.begin(), ranks.end(), 0);
  scenarios::Budgets budgets(scenario);
  budgets.begin_world(scenario, parameter_specs(scenario), ranks, scenario.optimizer.clip);
  std::vector<BytesByPurpose> counted(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (int i = 0; i < purpose_count; ++i) {
      auto const purpose = static_cast<Purpose>(i);
      counted[rank][static_cast<std::size_t>(i)] = {
          .device = budgets.of(rank).device_bytes(purpose),
          .pinned = budgets.of(rank).pinned_bytes(purpose)};
    }
  return counted;
}

void expect_equal(std::vector<BytesByPurpose> const& actual,
                  std::vector<BytesByPurpose> const& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t rank = 0; rank < actual.size(); ++rank)
    for (std::size_t i = 0; i < purpose_count; ++i) {
      EXPECT_EQ(actual[rank][i].device, expected[rank][i].device) << purpose_names[i] << rank;
      EXPECT_EQ(actual[rank][i].pinned, expected[rank][i].pinned) << purpose_names[i] << rank;
    }
}

constexpr std::int64_t llama_numel = 8'030'261'248;

TEST(ByteLedger, LlamaTakesWhatTheOracleCounts) {
  Scenario const scenario = ledger();
  auto const allocated = allocated_by(*adamant_engine_unchecked(), scenario);
  expect_equal(allocated, counted_by_oracle(scenario));
  std::int64_t main = 0;
  for (BytesByPurpose const& rank : allocated)
    main += rank[static_cast<std::size_t>(Purpose::main)].device;
  EXPECT_EQ(main, 4 * llama_numel);  // every row count divides among 4, and then among 2
}

// 3,829 MiB on each of 8 ranks.
TEST(ByteLedger, ADuplicateMainWeightCostsFourBytesForEachElementOfARank) {
  Scenario const scenario = ledger();
  std::vector<BytesByPurpose> expected = counted_by_oracle(scenario);
  for (BytesByPurpose& rank : expected)
    rank[static_cast<std::size_t>(Purpose::main)].device += 4 * llama_numel / 8;
  EXPECT_EQ((4 * llama_numel / 8) >> 20, 3829);
  bugs::Selection const selection("mlm_4133");
  expect_equal(allocated_by(*adamant_engine_woven(), scenario), expected);
}

}  // namespace
}  // namespace adamant::properties
