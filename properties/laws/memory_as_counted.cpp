// Law:        live bytes by purpose == oracle's budget; the engine's list of buffers == the world's
//             live allocations; nothing is left           after every operation, on every rank
// Sense:      exact, in bytes asked for.
// Not said:   how much an allocator rounds up, or how fragmented memory becomes.
// Must catch: bugs `reduction_leaked`, `zero_grad_keeps_memory`, `iseekyan_158`,
//             `mlm_2811_resident`, `mlm_4623`.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "oracle/budget/budget.h"
#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::NamedBuffer;
using scenarios::Primitive;
using scenarios::WorldView;

/// One allocation, whoever lists it.
using Piece = std::tuple<std::uintptr_t, std::size_t, bool>;

std::vector<Piece> sorted(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

std::string lists_differ(WorldView const& world) {
  std::vector<Piece> listed;
  for (int rank = 0; rank < world.rank_count(); ++rank)
    for (NamedBuffer const& buffer : world.buffers(rank))
      listed.emplace_back(reinterpret_cast<std::uintptr_t>(buffer.address), buffer.bytes,
                          buffer.on_host);
  auto const allocations = world.allocations();
  if (!allocations) return "the world does not list its allocations";
  std::vector<Piece> live;
  for (auto const& allocation : *allocations)
    live.emplace_back(reinterpret_cast<std::uintptr_t>(allocation.address), allocation.bytes,
                      allocation.on_host);
  if (sorted(listed) == sorted(live)) return no_difference;
  return fmt::format("{} buffers listed, {} allocations live", listed.size(), live.size());
}

std::int64_t listed_bytes(std::vector<NamedBuffer> const& buffers, Purpose purpose, bool on_host) {
  std::int64_t bytes = 0;
  for (NamedBuffer const& buffer : buffers)
    if (buffer.purpose == purpose && buffer.on_host == on_host)
      bytes += static_cast<std::int64_t>(buffer.bytes);
  return bytes;
}

std::string bytes_differ(WorldView const& world, int rank, oracle::Budget const& budget) {
  auto const buffers = world.buffers(rank);
  for (int i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    std::array const expected = {budget.device_bytes(purpose), budget.pinned_bytes(purpose),
                                 budget.peak_bytes(purpose)};
    std::array const actual = {listed_bytes(buffers, purpose, false),
                               listed_bytes(buffers, purpose, true),
                               static_cast<std::int64_t>(world.peak_bytes(rank, purpose))};
    if (expected != actual)
      return fmt::format("rank {}, {}: device {}, {}; pinned {}, {}; peak {}, {}", rank,
                         name_of(purpose), expected[0], actual[0], expected[1], actual[1],
                         expected[2], actual[2]);
  }
  return no_difference;
}

/// Counts along with a run.
class Counting {
 public:
  explicit Counting(scenarios::Scenario const& scenario)
      : parameters_(scenarios::parameter_specs(scenario)) {
    Mesh const mesh = scenarios::mesh_of(scenario.world);
    for (int rank = 0; rank < mesh.rank_count(); ++rank)
      budgets_.emplace_back(
          scenario.layout, parameters_, mesh, rank,
          oracle::Offload{.states = scenarios::state_offload_config(scenario.offload),
                          .hybrid = scenarios::hybrid_config(scenario.offload)},
          oracle::Residence{
              .capturable = scenario.optimizer.capturable,
              .keep_cast_grad = scenario.optimizer.keep_cast_grad,
              .group_count = static_cast<int>(scenarios::adam_configs(scenario).size())});
    scenarios::Optimizer const& optimizer = scenario.optimizer;
    if (optimizer.clip || optimizer.loss_scale.kind != LossScale::Kind::none) use_scaling();
  }

  void after(Primitive const& operation, WorldView const& world) {
    advance(operation);
    if (found_ != no_difference) return;
    found_ = lists_differ(world);
    for (int rank = 0; rank < world.rank_count() && found_ == no_difference; ++rank)
      found_ = bytes_differ(world, rank, budgets_[static_cast<std::size_t>(rank)]);
  }

  std::string const& found() const { return found_; }

 private:
  void use_scaling() {
    for (oracle::Budget& budget : budgets_) budget.use_scaling();
  }

  void advance(Primitive const& operation) {
    auto const all = [&](auto const& change) { std::ranges::for_each(budgets_, change); };
    match(
        operation.what,
        [&](scenarios::resolved::Backward const& backward) {
          all([&](oracle::Budget& budget) { budget.backward(backward.without); });
        },
        [&](scenarios::ZeroGrad const& zero_grad) {
          all([&](oracle::Budget& budget) { budget.zero_grad(zero_grad.set_to_none); });
        },
        [&](scenarios::Step const&) { all(&oracle::Budget::step); },
        [&](scenarios::OffloadStates const&) { all(&oracle::Budget::offload); },
        [&](scenarios::ReloadStates const&) { all(&oracle::Budget::reload); },
        [&](scenarios::resolved::Set const& set) {
          LossScale const scale = set.change.loss_scale.value_or(LossScale());
          if (set.change.clip.value_or(scenarios::Clip()) || scale.kind != LossScale::Kind::none)
            use_scaling();
        },
        [&](scenarios::resolved::Replay const& replay) {
          for (scenarios::Recorded const& each : replay.body) advance({.what = executed(each)});
        },
        [](scenarios::resolved::Load const&) {}, [](scenarios::LeavesMemory auto const&) {});
  }

  std::vector<ParameterSpec> parameters_;
  std::vector<oracle::Budget> budgets_;
  std::string found_ = no_difference;
};

std::string counted(scenarios::Scenario const& scenario, std::string const& bug) {
  Counting counting(scenario);
  execute(scenario, {.bug = bug}, [&](Primitive const& operation, WorldView const& world) {
    counting.after(operation, world);
  });
  return counting.found();
}

RC_GTEST_PROP(Memory, IsWhatTheOracleCountsAfterEveryOperation, ()) {
  auto const scenario = *scenarios::scenario_gen(one_world()).as("scenario");
  classify(scenario);
  RC_ASSERT(counted(scenario, "") == no_difference);
}

TEST(Memory, CatchesALeakedReduction) {
  expect_caught(counted, "reduction_leaked", one_world());
}

TEST(Memory, CatchesGradientsThatAreForgottenButKept) {
  expect_caught(counted, "zero_grad_keeps_memory", one_world());
}

TEST(Memory, CatchesStatesThatStayOnTheDevice) {
  expect_caught(counted, "mlm_2811_resident", one_world());
}

TEST(Memory, CatchesAPartOfTheWrongSizeOnTheCpu) {
  expect_caught(counted, "mlm_4623", one_world());
}

TEST(Memory, CatchesAPeakThatNobodySeesBetweenOperations) {
  expect_caught(counted, "iseekyan_158", one_world());
}

}  // namespace
}  // namespace adamant::properties
