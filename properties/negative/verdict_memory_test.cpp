// What the verdict must report of addresses and memory, without any engine: a world is made by hand
// as it should be, one thing in it is made wrong, and the law that is broken has to be named.
// Beside each stands a near miss, which must stay silent.
#include "properties/negative/verdict_fixture.h"

namespace adamant::properties {
namespace {

// ---- addresses ---------------------------------------------------------------------------------

TEST_F(VerdictReports, AMomentThatMoved) {
  EXPECT_EQ(started(), silent);
  std::vector<float> elsewhere = values(0, TensorKind::exp_avg);
  values(0, TensorKind::exp_avg).swap(elsewhere);
  EXPECT_EQ(after(check), Laws{Law::pointers_stable});
}

TEST(PointerJudge, EachTensorThatMovedOnALaterRank) {
  scenarios::Scenario const scenario = handmade_scenario();
  std::vector<ParameterSpec> parameters = scenarios::parameter_specs(scenario);
  parameters.front().formats.parameter = NumberFormat::bf16;
  parameters.front().formats.main = NumberFormat::fp32;
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
    HandmadeWorld world(scenario);
    for (HandmadeRank& rank : world.ranks) rank.tensor(TensorKind::main) = {1, 2};
    scenarios::RunFindings findings;
    scenarios::PointerJudge judge(parameters, 2, std::nullopt, {}, findings);
    judge.compare(world, nullptr);
    judge.compare(world, &check);
    EXPECT_FALSE(findings.any());
    std::vector<float> elsewhere = world.ranks[1].tensor(kind);
    world.ranks[1].tensor(kind).swap(elsewhere);
    judge.compare(world, &check);
    EXPECT_TRUE(findings.any()) << static_cast<int>(kind);
  }
}

// Addresses in a graph outlive what zero_grad gives back.
TEST(PointerJudge, AGradientThatComesBackElsewhereAlthoughAGraphHoldsIt) {
  scenarios::Scenario const scenario = handmade_scenario();
  for (bool const capturable : {false, true}) {
    HandmadeWorld world(scenario);
    world.zero_gradients();
    scenarios::RunFindings findings;
    scenarios::PointerJudge judge(scenarios::parameter_specs(scenario), 2, std::nullopt,
                                  {.capturable = capturable}, findings);
    judge.compare(world, nullptr);
    std::vector<float> given_back;
    world.ranks[1].tensor(TensorKind::gradient).swap(given_back);
    judge.compare(world, &zero_grad_to_none);
    EXPECT_FALSE(findings.any());
    world.ranks[1].tensor(TensorKind::gradient) = std::vector<float>(given_back.size());
    scenarios::Primitive const backward = {.what = scenarios::resolved::Backward{}};
    judge.compare(world, &backward);
    EXPECT_EQ(findings.any(), capturable);
  }
}

TEST(PointerJudge, AStateThatLeavesTheDeviceAlthoughOthersAloneMay) {
  scenarios::Scenario const scenario = handmade_scenario();
  std::vector<ParameterSpec> parameters = scenarios::parameter_specs(scenario);
  parameters.front().formats.parameter = NumberFormat::bf16;
  parameters.front().formats.main = NumberFormat::fp32;
  for (TensorKind const may_leave : {TensorKind::main, TensorKind::exp_avg})
    for (TensorKind const leaves : {TensorKind::main, TensorKind::exp_avg}) {
      bool const main = may_leave == TensorKind::main;
      HandmadeWorld world(scenario);
      for (HandmadeRank& rank : world.ranks) rank.tensor(TensorKind::main) = {1, 2};
      scenarios::RunFindings findings;
      scenarios::PointerJudge judge(
          parameters, 2, StateOffloadConfig{.moments = !main, .main = main}, {}, findings);
      judge.compare(world, nullptr);
      world.ranks[1].tensor(leaves).clear();
      judge.compare(world, &step);
      EXPECT_EQ(findings.any(), leaves != may_leave) << main;
    }
}

TEST_F(VerdictReports, AGradientThatMovedUnderZeroGradToZeros) {
  EXPECT_EQ(started(), silent);
  world_.zero_gradients();
  EXPECT_EQ(after(zero_grad_to_zeros), silent);
  std::vector<float> elsewhere = values(1, TensorKind::gradient);
  values(1, TensorKind::gradient).swap(elsewhere);
  EXPECT_EQ(after(zero_grad_to_zeros), Laws{Law::pointers_stable});
}

TEST_F(VerdictReports, NothingWhereAGradientWasGivenBack) {
  EXPECT_EQ(started(), silent);
  HandmadeWorld const at_rest = world_;
  world_.zero_gradients();
  EXPECT_EQ(after(zero_grad_to_zeros), silent);
  for (HandmadeRank& r : world_.ranks) {
    r.tensor(TensorKind::gradient).clear();
    r.has_gradient = false;
    r.buffers.pop_back();
  }
  world_.live = at_rest.live;
  EXPECT_EQ(after(zero_grad_to_none), silent);
}

// ---- memory ------------------------------------------------------------------------------------

TEST_F(VerdictReports, ABufferThatIsNotListed) {
  rank(0).buffers.pop_back();
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, ABufferThatNobodyNeeds) {
  world_.add_buffer(1, Purpose::reduction, 16);
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, ABufferThatIsListedAndNotAlive) {
  world_.live.erase(world_.live.begin());
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, ALeakThatNoListMentions) {
  auto extra = world_.live.front();
  extra.address = static_cast<char const*>(extra.address) + 60;
  world_.live.push_back(extra);
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, OneByteTooMany) {
  ++rank(0).buffers.front().bytes;
  ++world_.live.front().bytes;
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, BytesListedUnderAnotherPurpose) {
  rank(0).buffers.front().purpose = Purpose::exp_avg;
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, PinnedMemoryInThePlaceOfDeviceMemory) {
  rank(0).buffers.front().on_host = true;
  world_.live.front().on_host = true;
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, APeakThatNobodyCounted) {
  rank(1).peaks[static_cast<std::size_t>(Purpose::unsharded_gradients)] = 16;
  EXPECT_EQ(started(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, AnAllocationThatOutlivesItsEngine) {
  EXPECT_EQ(started(), silent);
  verdict_.ended({.allocations = world_.live, .handles = {}});
  EXPECT_EQ(reported(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, WhoseAllocationOutlivesItsEngine) {
  EXPECT_EQ(started(), silent);
  verdict_.ended({.allocations = {world_.live.back()}, .handles = {}});
  EXPECT_EQ(verdict_.violations().front().rank, world_.live.back().rank);
  EXPECT_EQ(verdict_.violations().front().actual,
            scenarios::Value(scenarios::Allocated{56, false}));
  EXPECT_EQ(world_.live.back().rank, 1);
}

TEST_F(VerdictReports, EventsThatOutliveTheirEngines) {
  EXPECT_EQ(started(), silent);
  verdict_.ended({.allocations = {}, .handles = {{"events", 2}}});
  EXPECT_EQ(reported(), Laws{Law::memory_budget});
}

TEST_F(VerdictReports, NothingWhereNothingIsLeft) {
  EXPECT_EQ(started(), silent);
  verdict_.ended({});
  EXPECT_EQ(reported(), silent);
}

}  // namespace
}  // namespace adamant::properties
