// Ranks that own several ranges of a parameter, in the middle of rows too, as no layout has it that
// engines execute today: their values are put together right, and what is wrong is named by its
// place in the whole.
#include "scenarios/judge/value_judge.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/runner/testing/stand_in_world.h"

namespace adamant::scenarios {
namespace {

using Ranges = std::vector<ElementRange>;

constexpr int shards = 2;

Scenario one_parameter() {
  Scenario scenario = small_scenario();
  scenario.world.shard = shards;
  scenario.microbatches = shards;
  scenario.groups = {};
  scenario.params = {parameter("w", {4, 3})};
  return scenario;
}

oracle::Layout layout_of(Ranges const& first, Ranges const& second) {
  oracle::Layout layout({.shards = shards, .replicas = 2});
  layout.add(first);
  layout.add(second);
  return layout;
}

/// A world whose ranks take turns, and what the judge says of it.
class SeveralRanges : public testing::Test {
 protected:
  explicit SeveralRanges(int replicas = 1)
      : scenario_(one_parameter()),
        parameters_(parameter_specs(scenario_)),
        reference_(scenario_, parameters_, 7),
        values_(reference_, findings_),
        formulas_(make_formulas(Arithmetic::interval, {.gradients = scenario_.gradients,
                                                       .reference = reference_,
                                                       .values = values_,
                                                       .findings = findings_,
                                                       .follow_each = {}})),
        world_(scenario_, parameters_,
               {.says = Arithmetic::interval, .shards = shards, .replicas = replicas}) {
    values_.judge_by(*formulas_);
    world_.write(0, reference_.model().tensor(0, TensorKind::parameter));
    lay_out(layout_of({{0, 2}, {5, 6}, {9, 12}}, {{2, 5}, {6, 9}}));
  }

  /// Judge and world see it alike.
  void lay_out(oracle::Layout const& layout) {
    values_.begin_world(layout);
    world_.lay_out(layout);
  }

  std::vector<Violation> const& compared() {
    values_.compare(world_, 0, TensorKind::parameter);
    return findings_.violations();
  }
  bool agrees() const { return values_.agrees(world_, 0, TensorKind::parameter); }

  Scenario const scenario_;
  std::vector<ParameterSpec> const parameters_;
  Reference reference_;
  RunFindings findings_;
  ValueJudge values_;
  std::unique_ptr<Formulas> const formulas_;
  StandInWorld world_;
};

TEST_F(SeveralRanges, AreEachComparedWithTheirPlaceInTheWhole) {
  EXPECT_TRUE(agrees());
  EXPECT_TRUE(compared().empty());
}

TEST_F(SeveralRanges, AWrongElementIsNamedByItsPlaceInTheWhole) {
  world_.at(0).weight[8] += 1;
  EXPECT_FALSE(agrees());
  ASSERT_EQ(compared().size(), 1U);
  EXPECT_EQ(compared().front().law, Law::values_bitwise);
  EXPECT_EQ(compared().front().rank, 1);
  EXPECT_EQ(compared().front().index, 8);
}

TEST_F(SeveralRanges, WrongOnesAreAllNamedAndWhoseTheyAre) {
  for (std::size_t const i : {0U, 1U, 5U, 9U, 10U, 11U}) world_.at(0).weight[i] += 1;
  ASSERT_EQ(compared().size(), 1U);
  WrongElements const all{.ranges = {{0, 2}, {5, 6}, {9, 12}},
                          .count = 6,
                          .part = WrongElements::Part::shards,
                          .ranks = {0}};
  EXPECT_EQ(compared().front().elements, all);
}

TEST_F(SeveralRanges, WrongOnesOfAReducedGradientAreAllNamed) {
  resolved::Backward const backward;
  world_.backward(backward, false);
  reference_.begin_backward(backward);
  for (std::size_t const i : {3U, 4U, 9U}) world_.at(0).gradient[i] += 1;
  values_.admit_gradient(world_, 0, 0);
  ASSERT_EQ(findings_.violations().size(), 1U);
  WrongElements const some{.ranges = {{3, 5}, {9, 10}}, .count = 3};
  EXPECT_EQ(findings_.violations().front().elements, some) << "of what both ranks have";
}

TEST_F(SeveralRanges, OtherElementsThanTheLayoutsAreReportedEvenIfThereAreAsMany) {
  world_.lay_out(layout_of({{0, 2}, {5, 6}, {9, 12}}, {{2, 6}, {7, 9}}));
  EXPECT_FALSE(agrees());
  ASSERT_EQ(compared().size(), 1U);
  EXPECT_EQ(compared().front().rank, 1);
  EXPECT_EQ(compared().front().index, 2);
  Sides const sides = sides_in_words(compared().front());
  EXPECT_EQ(sides.expected, "elements [2, 5), [6, 9) in fp32");
  EXPECT_EQ(sides.actual, "elements [2, 6), [7, 9) in fp32");
}

TEST_F(SeveralRanges, WholeRowsAreReportedAsRows) {
  lay_out(layout_of({{0, 3}, {9, 12}}, {{3, 9}}));
  world_.lay_out(layout_of({{0, 3}, {9, 12}}, {{6, 9}}));
  ASSERT_EQ(compared().size(), 1U);
  Sides const sides = sides_in_words(compared().front());
  EXPECT_EQ(sides.expected, "rows [1, 3) in fp32");
  EXPECT_EQ(sides.actual, "rows [2, 3) in fp32");
}

TEST_F(SeveralRanges, AreGatheredIntoOneTensor) {
  auto const whole = values_.gather(world_, 0, TensorKind::parameter);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->values, world_.at(0).weight);
}

TEST_F(SeveralRanges, HaveOwners) {
  EXPECT_EQ(values_.site_of(0, TensorKind::parameter, 5).rank, 0);
  EXPECT_EQ(values_.site_of(0, TensorKind::parameter, 6).rank, 1);
}

TEST_F(SeveralRanges, OfAReducedGradientAreHeldToTheirBounds) {
  resolved::Backward const backward;
  world_.backward(backward, false);
  reference_.begin_backward(backward);
  values_.admit_gradient(world_, 0, 0);
  EXPECT_FALSE(findings_.any());
  auto const admitted = reference_.model().tensor(0, TensorKind::gradient);
  EXPECT_EQ(std::vector<float>(admitted.begin(), admitted.end()), world_.at(0).gradient);
}

TEST_F(SeveralRanges, OfAReducedGradientAreNamedByTheirPlaceInTheWhole) {
  resolved::Backward const backward;
  world_.backward(backward, false);
  reference_.begin_backward(backward);
  world_.at(0).gradient[7] += 1;
  values_.admit_gradient(world_, 0, 0);
  ASSERT_EQ(findings_.violations().size(), 1U);
  EXPECT_EQ(findings_.violations().front().rank, 1);
  EXPECT_EQ(findings_.violations().front().index, 7);
}

class SeveralRangesOfReplicas : public SeveralRanges {
 protected:
  SeveralRangesOfReplicas() : SeveralRanges(2) {}
};

TEST_F(SeveralRangesOfReplicas, AreComparedWithTheFirstReplicas) {
  EXPECT_TRUE(compared().empty());
  lay_out(layout_of({{3, 5}, {9, 12}}, {{0, 3}, {5, 9}}));
  world_.part_replica(100);
  std::vector<Violation> const found = compared();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().count, 2);  // the first element of each shard
  EXPECT_EQ(ranks_of(found.front()), (std::vector{2, 3}));
  EXPECT_EQ(found.front().law, Law::ranks_agree);
  EXPECT_EQ(found.front().rank, 2);
  EXPECT_EQ(found.front().index, 3);
}

}  // namespace
}  // namespace adamant::scenarios
