#include "scenarios/explain/explain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "scenarios/judge/reference.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/seam/program_walk.h"
#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {
namespace {

Scenario scenario_of(std::string const& rest) {
  return load_scenario_text(
      "adamant: 1\nname: a\nseed: 3\nworld: {shard: 2}\nparams: [{name: w, shape: [5, 3]}]\n" +
          rest,
      "test");
}

std::vector<Explanation> explained(Scenario const& scenario, std::string const& element,
                                   std::optional<int> operation = {}) {
  return explain(scenario, {}, element, operation);
}

/// The error that a question leads to.
std::string refused(Scenario const& scenario, std::string const& element,
                    std::optional<int> operation = {}) {
  try {
    explained(scenario, element, operation);
  } catch (oracle::NoSuchElement const& error) {
    return error.what();
  }
  return {};
}

/// Is what was computed what the oracle has?
void expect_same(Explanation const& told, std::string const& what) {
  if (told.told.roundings.empty() || !told.told.value || told.told.interval) return;
  auto const came = static_cast<float>(told.told.roundings.back().value);
  EXPECT_EQ(oracle::ulp_distance(came, *told.told.value), 0U) << what << "\n"
                                                              << describe(told, what);
}

TEST(Explain, ComesToTheOraclesBitsInDrawnScenarios) {
  int told = 0;
  for (std::uint64_t index = 0; index < 120; ++index) {
    Scenario scenario = generate_scenario(11, index);
    scenario.gradients = GradientClass::exact;
    std::string const name = scenario.params.front().name;
    for (std::string const kind : {"", "/main", "/exp_avg", "/exp_avg_sq", "/gradient"})
      for (int entry = 0; entry < std::ssize(scenario.program); entry += 2) {
        std::string const element = name + kind + "[0]";
        try {
          for (Explanation const& each : explained(scenario, element, entry)) {
            expect_same(each, std::to_string(index) + " " + element);
            ++told;
          }
        } catch (oracle::NoSuchElement const&) {  // no such tensor, or no element
        }
      }
  }
  EXPECT_GT(told, 300);
}

TEST(Explain, TellsTheOperationsOfAStepInTheirOrder) {
  auto const told = explained(scenario_of("program: [train: 2]\n"), "w[4]", 0);
  ASSERT_EQ(told.size(), 2U) << "each step of the entry";
  std::vector<std::string> names;
  for (oracle::Rounding const& each : told[1].told.roundings)
    if (!each.formula.empty()) names.push_back(each.result);
  EXPECT_EQ(names, (std::vector<std::string>{"beta1 * m",
                                             "1 - beta1",
                                             "(1 - beta1) * g",
                                             "new m",
                                             "beta2 * v",
                                             "1 - beta2",
                                             "(1 - beta2) * g",
                                             "(1 - beta2) * g * g",
                                             "new v",
                                             "c1",
                                             "c2",
                                             "m_hat",
                                             "v_hat",
                                             "root",
                                             "root + eps",
                                             "u",
                                             "decay",
                                             "u + decay",
                                             "lr * u",
                                             "new p"}));
  expect_same(told[1], "w[4]");
}

TEST(Explain, TellsOfTheLastChangeUpToTheOperation) {
  Scenario const scenario = scenario_of("program: [train: 1, check, backward, check]\n");
  EXPECT_EQ(explained(scenario, "w[0]").front().operation, 0);
  EXPECT_EQ(explained(scenario, "w/exp_avg[14]", 1).front().operation, 0);
  EXPECT_EQ(explained(scenario, "w/gradient[2]").front().operation, 2);
  Scenario const idle = scenario_of("program: [check]\n");
  EXPECT_EQ(explained(idle, "w[0]").front().primitive, "initial value");
}

TEST(Explain, TellsOfAStepInsideAReplay) {
  auto const told = explained(scenario_of("optimizer: {capturable: true}\n"
                                          "program: [capture: [{train: 1}], replay: 3]\n"),
                              "w/exp_avg[7]");
  ASSERT_EQ(told.size(), 3U);
  for (Explanation const& each : told) {
    EXPECT_FALSE(each.told.roundings.empty());
    expect_same(each, "w/exp_avg[7]");
  }
}

TEST(Explain, TellsWhatALoadStoresAnew) {
  auto const told = explained(
      scenario_of("program: [train: 1, save: a, load: {from: a, precision: {exp_avg: bf16}}]\n"),
      "w/exp_avg[3]");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].told.roundings.back().format, "bf16");
  expect_same(told[0], "w/exp_avg[3]");
}

TEST(Explain, TellsWhatIsRightWhereTheEngineIsWrong) {
  Scenario scenario = scenario_of("program: [backward, step, backward, step]\n");
  auto const right = explained(scenario, "w[1]", 1);
  scenario.bug = "counter_off_by_one";
  auto const wrong = explained(scenario, "w[1]");
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].operation, 1) << "of the operation that breaks a law";
  EXPECT_EQ(wrong[0].told.value, right[0].told.value);
}

TEST(Explain, TellsTheIntervalOfASumThatRounds) {
  auto const told = explained(
      scenario_of("gradients: normal\nmicrobatches: 5\nprogram: [backward]\n"), "w/gradient[6]");
  ASSERT_EQ(told.size(), 1U);
  ASSERT_TRUE(told[0].told.interval.has_value());
  EXPECT_TRUE(told[0].told.interval->contains(*told[0].told.value));
  EXPECT_NE(describe(told[0], "w/gradient[6]").find("may be"), std::string::npos);
}

TEST(Explain, TellsOfCountersNormsAndScales) {
  Scenario const clipped = scenario_of("optimizer: {clip: 0.5}\nprogram: [train: 2]\n");
  EXPECT_EQ(explained(clipped, "w/step").back().told.text, "the counter was 1");
  EXPECT_EQ(explained(clipped, "w/step").back().told.value, 2.0F);
  EXPECT_EQ(explained(clipped, "norm").back().told.roundings.back().result, "coefficient");
  Scenario const scaled = scenario_of("precision: {exp_avg: fp8}\nprogram: [train: 1]\n");
  auto const told = explained(scaled, "w/exp_avg/scale");
  ASSERT_TRUE(told.back().told.value.has_value());
  EXPECT_GT(*told.back().told.value, 0.0F);
}

float scale_of_oracle(Scenario const& scenario) {
  Program const program(scenario);
  Reference reference(scenario, parameter_specs(scenario), *scenario.seed);
  ProgramWalk walk(program);
  while (auto const next = walk.next())
    std::visit(
        [&](auto const& operation) {
          if constexpr (std::is_constructible_v<Recorded, decltype(operation)>)
            reference.follow(operation, [&](auto const& visit) {
              for (int p = 0; p < reference.model().parameter_count(); ++p) visit(p);
            });
          else
            EXPECT_TRUE((OneOf<decltype(operation), Check>)) << name_of(*next);
        },
        next->what);
  return reference.model().scales(0, TensorKind::exp_avg).front();
}

/// A power of two in the scale leaves most numbers what they are.
TEST(Explain, TellsTheScaleThatTheOracleMakes) {
  for (std::string const format : {"fp16", "fp8"}) {
    Scenario const scenario =
        scenario_of("precision: {exp_avg: " + format + "}\nprogram: [train: 2]\n");
    auto const scale = explained(scenario, "w/exp_avg/scale");
    auto const told = explained(scenario, "w/exp_avg[3]");
    std::optional<double> last;
    for (oracle::Rounding const& each : told.back().told.roundings)
      if (each.result == "scale") last = each.value;
    ASSERT_TRUE(last.has_value()) << describe(told.back(), "w/exp_avg[3]");
    EXPECT_EQ(static_cast<float>(*last), scale_of_oracle(scenario)) << format;
    EXPECT_EQ(scale.back().told.value, scale_of_oracle(scenario)) << format;
  }
}

TEST(Explain, RefusesWhatIsNotThere) {
  Scenario const scenario = scenario_of("program: [train: 1]\n");
  EXPECT_NE(refused(scenario, "v[0]").find("no parameter is called `v`"), std::string::npos);
  EXPECT_NE(refused(scenario, "w[15]").find("the last is number 14"), std::string::npos);
  EXPECT_NE(refused(scenario, "w").find("which element"), std::string::npos);
  EXPECT_NE(refused(scenario, "w/exp[0]").find("`exp`"), std::string::npos);
  EXPECT_NE(refused(scenario, "w/main[0]").find("no such tensor"), std::string::npos);
  EXPECT_NE(refused(scenario, "w/exp_avg/scale").find("no such tensor"), std::string::npos);
  EXPECT_NE(refused(scenario, "w[x]").find("KEY[INDEX]"), std::string::npos);
  EXPECT_NE(refused(scenario, "w[0]", 1).find("the last operation is number 0"), std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
