// Law: what asks for more than anybody waits for is refused before it is looked at, and what a file
// asks for again and again is looked at once.
#include "scenarios/seam/refusal_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

std::vector<Operation> program_of(std::vector<Action> actions) {
  std::vector<Operation> program;
  for (Action& action : actions)
    program.push_back({std::move(action), {static_cast<int>(program.size()) + 1}});
  return program;
}

Scenario of_parameters(int count, std::vector<Action> actions) {
  Scenario scenario{.world = {.shard = 2}, .program = program_of(std::move(actions))};
  for (int i = 0; i < count; ++i)
    scenario.params.push_back({.name = "p" + std::to_string(i), .shape = {2}});
  return scenario;
}

Load to_shards(std::int64_t shard) {
  return {.from = "a", .world = World{.shard = shard}};
}

std::optional<Refusal> refusal_of(Scenario const& scenario) {
  return refuse(scenario, *capabilities_in_process("sim"));
}

TEST(ExtentSupport, RefusesALoadIntoOneWorldTooMany) {
  constexpr int parameters = 1 << 12;
  std::vector<Action> actions{Save{"a"}};
  for (int i = 0; i < 300; ++i) actions.emplace_back(to_shards(3 + i));
  Scenario const scenario = of_parameters(parameters, actions);
  auto const refusal = refusal_of(scenario);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "unsupported.extent");
  EXPECT_EQ(refusal->line, 256) << "254 loads and the scenario itself fit, with their operations";
  EXPECT_NE(refusal->message.find("4096 parameters in 256 settings and 256 operations"),
            std::string::npos)
      << refusal->message;
}

TEST(ExtentSupport, ThereAndBackIsOneOtherWorld) {
  std::vector<Action> actions{Save{"a"}};
  for (int i = 0; i < 3000; ++i) actions.emplace_back(to_shards(1 + i % 2));
  Scenario const scenario = of_parameters(1 << 12, actions);
  EXPECT_FALSE(refusal_of(scenario));
  int visits = 0;
  for_each_setting(scenario, [&](Scenario const&) { ++visits; });
  EXPECT_EQ(visits, 2);
}

TEST(ExtentSupport, RefusesCapturesThatNobodyUnrolls) {
  for (std::int64_t const count : {std::int64_t{1} << 17, INT64_MAX}) {
    Scenario scenario = of_parameters(1, {Capture{program_of({Train{count}})}});
    scenario.optimizer.capturable = true;
    auto const refusal = refusal_of(scenario);
    ASSERT_TRUE(refusal) << count;
    EXPECT_EQ(refusal->id, "unsupported.extent");
    EXPECT_EQ(refusal->line, 1);
  }
  Scenario scenario = of_parameters(1, {Capture{program_of({Train{1000}})}, Train{INT64_MAX}});
  scenario.optimizer.capturable = true;
  EXPECT_FALSE(refusal_of(scenario));
}

TEST(ExtentSupport, RefusesFurtherRunsThatNobodyWaitsFor) {
  Scenario scenario = of_parameters(1000, {Train{1}});
  scenario.lines.note("again", {7});
  scenario.again.assign(1000, {});
  EXPECT_FALSE(refusal_of(scenario));
  scenario.again.assign(1100, {});
  auto const refusal = refusal_of(scenario);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "unsupported.extent");
  EXPECT_EQ(refusal->line, 7);
  scenario.again = {{.resumed_after = 0, .through = std::vector<World>(1100)}};
  EXPECT_EQ(refusal_of(scenario).value_or(Refusal()).id, "unsupported.extent");
}

int asked = 0;  // how often an engine is asked for a parameter, which has no state to count in

TEST(ExtentSupport, OfManyCapturesOneAsksWhatMayBeCaptured) {
  Capabilities able = *capabilities_in_process("sim");
  able.why_not_captured = [](ParameterSpec const&, Optimizer const&) {
    ++asked;
    return std::string();
  };
  Capture const step{program_of({Step{}})};
  Scenario scenario = of_parameters(50, {step, step, step, Save{"a"}, to_shards(1), step});
  scenario.optimizer.capturable = true;
  asked = 0;
  EXPECT_FALSE(refuse(scenario, able));
  EXPECT_EQ(asked, 50);
}

}  // namespace
}  // namespace adamant::scenarios
