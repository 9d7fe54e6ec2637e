// Of what there is neither a script nor a session, and why.
#include "scenarios/peers/script/kinds.h"

#include <gtest/gtest.h>

#include <string>

#include "scenarios/peers/script/further_run.h"
#include "scenarios/peers/script/testing/read.h"

namespace adamant::scenarios {
namespace {

constexpr char const* one_step =
    "world: {shard: 1}\nparams: [{name: p0, shape: [2]}]\nprogram: [train: 1]\n";

template <typename Write>
std::string why_not(Write const& write) {
  try {
    write();
  } catch (NoScript const& reason) {
    return reason.what();
  }
  return "";
}

TEST(NoScriptAtAll, OfAnEngineInTheProgramItself) {
  EXPECT_EQ(why_not([] { write_any_script(read(one_step, "sim"), {}, nullptr); }),
            "the engine is sim; scripts show engines outside the process (--engine torch, or "
            "exec:)");
}

TEST(NoScriptAtAll, WhereNothingRan) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = "unsupported.layout";
  result.message = "other layouts";
  EXPECT_EQ(why_not([&] { write_any_script(read(one_step), result, nullptr); }),
            "the scenario was refused before anything ran (unsupported.layout): other layouts");
}

TEST(NoScriptAtAll, OfARunThatTheScenarioDoesNotHave) {
  Scenario const scenario = read(std::string(one_step) + "again: [{}]\n");
  EXPECT_EQ(why_not([&] { script::further_run_called(scenario, "again: {resumed_after: 2}"); }),
            "the scenario has no further run with again: {resumed_after: 2}");
}

}  // namespace
}  // namespace adamant::scenarios
