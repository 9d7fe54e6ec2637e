#include "scenarios/run/admission.h"

#include <gtest/gtest.h>

#include "scenarios/model/laws.h"
#include "scenarios/run/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

TEST(Admission, ScenariosCanExpectTheRefusalOfTooManyMicrobatches) {
  Scenario scenario = small_scenario();
  scenario.microbatches = 1 << 24;
  EXPECT_FALSE(refuse_to_run(scenario));

  scenario.microbatches = (1 << 24) + 1;
  scenario.places[Place::microbatches] = {11};
  auto const refusal = refuse_to_run(scenario);
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(is_known(refusal->id, refusal_reasons())) << refusal->id;
  EXPECT_EQ(refusal->line, 11);
}

TEST(Admission, WhatThisMachineHasNoMemoryForIsRefusedWithAListedReason) {
  Scenario scenario = small_scenario();
  scenario.params.front().shape = {1 << 20, 1 << 20, 1 << 20};
  auto const refusal = refuse_to_run(scenario);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "out_of_memory");
  EXPECT_TRUE(is_known(refusal->id, refusal_reasons()));
}

}  // namespace
}  // namespace adamant::scenarios
