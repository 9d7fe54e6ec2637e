// What the verdict must report of values, counters and sums, without any engine: a world is made by
// hand as it should be, one thing in it is made wrong, and the law that is broken has to be named.
// Beside each stands a near miss, which must stay silent.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "properties/negative/verdict_fixture.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/gradients/values.h"
#include "scenarios/judge/findings.h"

namespace adamant::properties {
namespace {

using scenarios::Primitive;
using scenarios::Scenario;

float next(float x) {
  return std::nextafter(x, std::numeric_limits<float>::infinity());
}

// ---- values ------------------------------------------------------------------------------------

TEST_F(VerdictReports, NothingWhereAllIsAsItShouldBe) {
  EXPECT_EQ(started(), silent);
  world_.zero_gradients();
  EXPECT_EQ(after(zero_grad_to_zeros), silent);
  EXPECT_EQ(after(check), silent);
}

TEST_F(VerdictReports, OneWrongBitOfAParameter) {
  float& last = values(1, TensorKind::parameter).back();
  last = next(last);
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
  auto const& report = verdict_.violations().front();
  EXPECT_EQ(report.subject, scenarios::Subject(scenarios::Tensor{.parameter = "w"}));
  EXPECT_EQ(report.rank, 1);
  EXPECT_EQ(report.index, 5);
  EXPECT_EQ(report.ulp, 1U);
}

TEST_F(VerdictReports, OneWrongBitOfEachMoment) {
  for (TensorKind const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq})
    values(0, kind)[3] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
  EXPECT_EQ(verdict_.violations().size(), 2U);
}

TEST_F(VerdictReports, AMinusBeforeAZero) {
  EXPECT_EQ(started(), silent);
  world_.zero_gradients();
  values(0, TensorKind::gradient)[1] = -0.0F;
  EXPECT_EQ(after(zero_grad_to_zeros), Laws{Law::values_bitwise});
  EXPECT_EQ(verdict_.violations().front().subject,
            scenarios::Subject(scenarios::Tensor{.parameter = "w", .kind = TensorKind::gradient}));
}

/// With eps 0, a step with zeros for gradients makes every parameter 0 / 0.
class VerdictReportsOnNan : public VerdictReports {
 protected:
  VerdictReportsOnNan() : VerdictReports(without_epsilon()) {}

  static Scenario without_epsilon() {
    Scenario scenario = handmade_scenario();
    scenario.optimizer.adam.epsilon = 0;
    return scenario;
  }

  void step_to(float parameter) {
    for (HandmadeRank& r : world_.ranks) r.settings.epsilon = 0;
    started();
    world_.zero_gradients();
    after(zero_grad_to_zeros);
    for (HandmadeRank& r : world_.ranks) {
      for (float& value : r.tensor(TensorKind::parameter)) value = parameter;
      r.steps = 1;
    }
  }
};

TEST_F(VerdictReportsOnNan, NothingWhereAnotherNanStands) {
  step_to(-std::nanf("0x1234"));
  EXPECT_EQ(after(step), silent);
}

TEST_F(VerdictReportsOnNan, AnInfinityInThePlaceOfNan) {
  step_to(std::numeric_limits<float>::infinity());
  EXPECT_EQ(after(step), Laws{Law::values_bitwise});
}

TEST_F(VerdictReportsOnNan, ANumberInThePlaceOfNan) {
  step_to(0.0F);
  EXPECT_EQ(after(step), Laws{Law::values_bitwise});
}

TEST_F(VerdictReports, ANanInThePlaceOfANumber) {
  values(0, TensorKind::exp_avg)[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
}

TEST_F(VerdictReports, ElementsThatNobodyHolds) {
  HandmadeRank& last = rank(1);
  last.ranges = {{6, 6}};
  for (auto& tensor : last.tensors) tensor.clear();
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
}

TEST_F(VerdictReports, ElementsWithoutStorage) {
  values(1, TensorKind::exp_avg).clear();
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
}

TEST_F(VerdictReports, AParameterThatDidNotDecay) {
  started();
  world_.zero_gradients();
  EXPECT_EQ(after(zero_grad_to_zeros), silent);
  for (HandmadeRank& r : world_.ranks) r.steps = 1;
  // The parameters should have decayed, and have not.
  EXPECT_EQ(after(step), Laws{Law::values_bitwise});
}

/// All ranks see all of `w`.
class VerdictReportsOnWholes : public VerdictReports {
 protected:
  VerdictReportsOnWholes() {
    EXPECT_EQ(started(), silent);
    std::vector<float> all = values(0, TensorKind::parameter);
    std::ranges::copy(values(1, TensorKind::parameter), std::back_inserter(all));
    for (HandmadeRank& r : world_.ranks) r.whole = all;
  }
};

TEST_F(VerdictReportsOnWholes, NothingWhereAllRanksSeeTheOraclesNumbers) {
  EXPECT_EQ(after(check), silent);
}

TEST_F(VerdictReportsOnWholes, AWrongBitThatALaterRankAloneSees) {
  rank(1).whole[2] = next(rank(1).whole[2]);
  EXPECT_EQ(after(check), Laws{Law::values_bitwise});
  EXPECT_EQ(verdict_.violations().front().rank, 1);
  EXPECT_EQ(verdict_.violations().front().index, 2);
}

TEST_F(VerdictReportsOnWholes, EachRankThatSeesSomethingWrong) {
  rank(0).whole.pop_back();
  rank(1).whole[2] = next(rank(1).whole[2]);
  EXPECT_EQ(after(check), Laws{Law::values_bitwise});
  ASSERT_EQ(verdict_.violations().size(), 2U);
  EXPECT_EQ(verdict_.violations()[0].breach, scenarios::Breach::other_size);
  EXPECT_EQ(verdict_.violations()[1].rank, 1);
}

// ---- agreement ---------------------------------------------------------------------------------

TEST_F(VerdictReports, ACounterThatOneRankAdvances) {
  rank(1).steps = 1;
  EXPECT_EQ(started(), Laws{Law::ranks_agree});
}

TEST_F(VerdictReports, ACounterThatAllRanksAdvanceAsWrong) {
  for (HandmadeRank& r : world_.ranks) r.steps = 1;
  EXPECT_EQ(started(), Laws{Law::values_bitwise});
  EXPECT_EQ(verdict_.violations().front().subject,
            scenarios::Subject(scenarios::StepCount{.parameter = "w"}));
}

TEST(Findings, OneWrongCounterOfAllParametersIsOneViolation) {
  scenarios::RunFindings findings;
  for (char const* const name : {"a", "b"})
    findings.add({.law = Law::values_bitwise,
                  .breach = scenarios::Breach::other_step_count,
                  .subject = scenarios::StepCount{.parameter = name}});
  ASSERT_EQ(findings.violations().size(), 1U);
  EXPECT_EQ(findings.violations().front().count, 2);
}

TEST_F(VerdictReports, ASettingThatALaterRankAloneHas) {
  EXPECT_EQ(started(), silent);
  rank(1).settings.learning_rate = 0.5F;
  EXPECT_EQ(after(check), Laws{Law::values_bitwise});
}

TEST_F(VerdictReports, ANormThatALaterRankAloneHas) {
  EXPECT_EQ(started(), silent);
  rank(1).scaling.max_norm = 0.5F;
  EXPECT_EQ(after(check), Laws{Law::ranks_agree});
}

TEST_F(VerdictReports, AGradientThatOnlyOneRankHas) {
  EXPECT_EQ(started(), silent);
  world_.zero_gradients();
  rank(1).has_gradient = false;
  EXPECT_EQ(after(zero_grad_to_zeros), Laws{Law::ranks_agree});
}

// ---- what the oracle goes on from ---------------------------------------------------------------

TEST_F(VerdictReports, NothingAfterALoadOfFilesThatTheEngineAloneCanRead) {
  scenario_.optimizer.loss_scale = {.kind = LossScale::Kind::dynamic, .value = 8};
  scenarios::Reference reference(scenario_, parameters_, 0);
  for (HandmadeRank& r : world_.ranks) {
    r.steps = 4;
    r.scaling = {.loss_scale = 4, .growth_tracker = 3, .hysteresis = 2};
    for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg})
      std::ranges::fill(r.tensor(kind), 5.0F);
  }
  EXPECT_FALSE(reference.take_from("a", world_)) << "there are no files";
  reference.model().load(*reference.checkpoint("a").candidates.front());
  oracle::Model const& model = reference.model();
  EXPECT_EQ(model.step_count(0), 4);
  EXPECT_EQ(model.scaler().scale(), 4);
  EXPECT_EQ(model.scaler().growth_tracker(), 3);
  EXPECT_EQ(model.scaler().hysteresis(), 2);
  for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg})
    EXPECT_TRUE(std::ranges::all_of(model.tensor(0, kind), [](float v) { return v == 5; }));
}

/// A backward in which `w` is gathered and gets no gradient.
class VerdictReportsOnGathering : public VerdictReports {
 protected:
  VerdictReportsOnGathering() {
    started();
    world_.weigh_gathered_unit();
  }

  std::uint64_t right_fingerprint() {
    auto const key =
        scenarios::gradient_key({.seed = scenario_.seed.value_or(0), .parameter = 0}, 0);
    std::uint64_t sum = 0;
    std::uint64_t element = 0;
    for (HandmadeRank& r : world_.ranks)
      for (float const value : r.tensor(TensorKind::parameter))
        sum += scenarios::fingerprint_term(scenarios::element_hash(key, element++), value);
    return sum;
  }

  Laws after_backward() {
    int const without[] = {0};
    return after({.what = scenarios::resolved::Backward{.without = without}});
  }
};

TEST_F(VerdictReportsOnGathering, AParameterThatIsNotTheOracles) {
  rank(0).gathered = right_fingerprint();
  rank(1).gathered = right_fingerprint() + 1;
  EXPECT_EQ(after_backward(), Laws{Law::values_bitwise});
  EXPECT_EQ(verdict_.violations().front().rank, 1);
}

TEST_F(VerdictReportsOnGathering, NothingWhereItIsRightOrNobodyLooked) {
  rank(0).gathered = right_fingerprint();
  EXPECT_EQ(after_backward(), silent);
}

// ---- sums that round ---------------------------------------------------------------------------

/// A backward with three microbatches of `normal` gradients, whose mean may have several values.
class VerdictReportsOnSums : public VerdictReports {
 protected:
  VerdictReportsOnSums() : VerdictReports(with_normal_gradients()) {
    started();
    world_.weigh_gathered_unit();
    world_.weigh_reduced_unit();
    world_.zero_gradients();
    std::int64_t element = 0;
    for (HandmadeRank& r : world_.ranks)
      for (float& mean : r.tensor(TensorKind::gradient)) mean = mean_in_reverse(element++);
  }

  static Scenario with_normal_gradients() {
    Scenario scenario = handmade_scenario();
    scenario.gradients = scenarios::GradientClass::normal;
    scenario.microbatches = microbatches;
    return scenario;
  }

  float mean_in_reverse(std::int64_t element) const {
    std::uint64_t const seed = scenario_.seed.value_or(0);
    auto const hash =
        scenarios::element_hash(scenarios::gradient_key({.seed = seed, .parameter = 0}, 0),
                                static_cast<std::uint64_t>(element));
    float sum = 0;
    for (int m = microbatches - 1; m >= 0; --m) {
      auto const key = scenarios::microbatch_key(
          {.seed = seed, .backward = 0, .microbatch = m, .microbatch_count = microbatches});
      sum += scenarios::normal_gradient(hash, key);
    }
    return sum / static_cast<float>(microbatches);
  }

  static constexpr int microbatches = 3;
  Primitive const backward_ = {.what = scenarios::resolved::Backward{}};
};

TEST_F(VerdictReportsOnSums, NothingInAnyOrderOfAdditions) {
  EXPECT_EQ(after(backward_), silent);
}

TEST_F(VerdictReportsOnSums, AMeanThatNoOrderGives) {
  float& last = values(1, TensorKind::gradient).back();
  last = last * 1.001F;
  EXPECT_EQ(after(backward_), Laws{Law::values_interval});
  EXPECT_EQ(verdict_.violations().front().index, 5);
}

TEST_F(VerdictReportsOnSums, AnInfinityThatNoOrderGives) {
  values(0, TensorKind::gradient)[2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(after(backward_), Laws{Law::values_interval});
}

TEST_F(VerdictReportsOnSums, AStepThatDoesNotUseTheGradientThatWasReduced) {
  EXPECT_EQ(after(backward_), silent);
  for (HandmadeRank& r : world_.ranks) r.steps = 1;
  EXPECT_EQ(after(step), Laws{Law::values_bitwise});
}

}  // namespace
}  // namespace adamant::properties
